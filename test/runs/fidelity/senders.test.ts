import { expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import type { LivedDialect, RunDialect } from '../harness/lived.ts'
import { ollamaRecording } from '../harness/ollama.ts'
import {
  madeRecording,
  rawMessage,
  requestPoints,
  type RawMessage,
  type Recording,
} from '../harness/recordings.ts'
import { isSound, isWorkable } from './figures.ts'
import { calling, result, said, wordsNamed } from './hand-made.ts'
import { openLivedSender } from './lived-sender.ts'
import { withWindow } from './rows.ts'
import { openFoldgateSender, openPolicyInput, type Sender } from './senders.ts'
import { walkConversation } from './walk-conversation.ts'

const filler = 'and so on it goes, word after word '.repeat(60)
const recording = recordingOf([
  said('system', 'Be brief.'),
  said('user', 'What stands in src/first.ts?'),
  ...Array.from({ length: 12 }, (_, round) => {
    const name = `file_${round}`
    const looking = calling(`${round}`).text.replace('"{}"', JSON.stringify(`{"path":"${name}"}`))
    return [rawMessage(looking), result(`${round}`, `${name} says: ${round} ${filler}`)]
  }).flat(),
  said('assistant', 'In src/first.ts stands what file_0 and file_11 say.'),
])
const { messages } = recording

test('where everything fits, everything is held and the prompt only grows', async () => {
  const tally = await walkFoldgate(100_000)
  expect(tally).toMatchObject({ requests: 13, compactions: 0, beyond: 0, refused: 0, errors: 0, things: 3 })
  expect(tally).toMatchObject({
    newestAbsent: 0,
    samePrompt: 0,
    taskGone: 0,
    tooLarge: 0,
    gaps: [],
    fills: [],
  })
  const { thingsHeld, runsHeld, actionsHeld, observationsHeld } = tally
  expect(tally).toMatchObject({
    things: thingsHeld,
    runs: runsHeld,
    actions: actionsHeld,
    observations: observationsHeld,
  })
  expect(tally.cachedTokens).toBeGreaterThan(0)
})

test.each(['truncate', 'summarize'])(
  'a small window costs compactions, each measured once, and nothing that is refused or broken: %s',
  async (strategy) => {
    const tally = await walkFoldgate(8000, strategy)
    expect(tally).toMatchObject({ requests: 13, beyond: 0 })
    expect(isSound(tally)).toBe(true)
    expect(tally.compactions).toBeGreaterThan(1)
    expect(tally.recents).toHaveLength(tally.compactions)
    expect(tally.fills).toHaveLength(tally.compactions)
    // The first has none before it.
    expect(tally.gaps).toHaveLength(tally.compactions - 1)
    const shares = [...tally.recents, ...tally.fills]
    expect(shares.filter((share) => share < 0 || share > 1)).toEqual([])
  },
)

test('a view that stays the same while the conversation goes on is found', async () => {
  const tally = await walkSending(() => messages.slice(0, 2))
  // The first request's newest message is the task itself.
  expect(tally).toMatchObject({ requests: 13, samePrompt: 12, newestAbsent: 12, taskGone: 0, compactions: 0 })
})

test('what system messages leave no room for is the upstream’s to decide, but has to show the newest message', async () => {
  const fixed: Recording = {
    ...recording,
    messages: [said('system', filler.repeat(10)), ...messages.slice(1)],
  }
  const nothing = { errors: 0, newestAbsent: 0, samePrompt: 0, taskGone: 0 }
  const seeing = await walkSending((point) => fixed.messages.slice(0, point), fixed)
  expect(seeing).toMatchObject({ requests: 0, tooLarge: 13, ...nothing })
  const blind = await walkSending(() => fixed.messages.slice(0, 2), fixed)
  expect(blind).toMatchObject({ requests: 0, tooLarge: 13, newestAbsent: 12, samePrompt: 12 })
})

test.each<LivedDialect>(['responses', 'messages'])(
  'where everything fits, the answers to all questions are those of the chat: %s',
  async (dialect) => {
    const [chat, lived] = [
      await walkLived('chat-completions', 100_000, 0),
      await walkLived(dialect, 100_000, 200),
    ]
    // Reasoning takes room, which each table tells.
    expect(lived.promptTokens).toBeGreaterThan(chat.promptTokens)
    const { promptTokens, cachedTokens } = chat
    expect({ ...lived, promptTokens, cachedTokens }).toEqual(chat)
    expect(chat.things).toBeGreaterThan(0)
  },
)

test.each([100_000, 12_000])(
  'a chat with Ollama is answered as any chat, under the window that its requests ask for: %i',
  async (windowTokens) => {
    const [chat, ollama] = [
      await walkLived('chat-completions', windowTokens, 0),
      await walkLived('ollama', windowTokens, 0),
    ]
    expect(isSound(ollama) && isWorkable(ollama)).toBe(true)
    const { requests, compactions, thingsHeld } = chat
    expect(ollama).toMatchObject({ requests, compactions, thingsHeld })
    expect(compactions > 0).toBe(windowTokens < 100_000)
  },
)

// Story: the newest messages had a third of the room, reasoning included. That goes with the compaction, so that what was
// left of them was a quarter, and less where more was thought.
test.each<LivedDialect>(['responses', 'messages'])(
  'a compaction leaves a third of the room to the newest messages, whatever was thought: %s',
  async (dialect) => {
    for (const reasoningTokens of [0, 300]) {
      const tally = await walkLived(dialect, 12_000, reasoningTokens)
      expect(isSound(tally) && isWorkable(tally)).toBe(true)
      expect(tally.compactions).toBeGreaterThan(0)
      for (const recent of tally.recents) expect(recent).toBeGreaterThan(0.3)
    }
  },
)

// Story: so that thoughts could stay, the newest result was cut to fit beside them, however small it was.
test('a small newest result is whole, although the thoughts before it go for that', async () => {
  const tally = await walkLived('responses', 12_000, 300, 70)
  expect(tally.compactions).toBeGreaterThan(0)
  expect(isSound(tally) && isWorkable(tally)).toBe(true)
})

function recordingOf(all: readonly RawMessage[]): Recording {
  return { ...madeRecording('own', 'one', all), points: requestPoints(all) }
}

/** A token for four characters serves for a judge. */
const count = (text: string): number => Math.ceil(text.length / 4)

const roomOf = (windowTokens: number) => ({ windowTokens, reserveTokens: 4000 })

async function walkFoldgate(windowTokens: number, strategy = 'truncate') {
  const room = roomOf(windowTokens)
  const profile = withWindow({ strategy }, windowTokens)
  return walk(recording, await openFoldgateSender({ recording, profile, room, count }), windowTokens)
}

/** A sender of these messages at each request, all of which are called errors. */
function walkSending(sentAt: (point: number) => readonly RawMessage[], sending: Recording = recording) {
  const sender: Sender = {
    send: async (point) => {
      const rawMessages = sentAt(point).map(({ text }) => text)
      return { received: { rawMessages, promptTokens: 100, cachedTokens: 0 }, faults: { errors: 1 } }
    },
    close: async () => {},
  }
  return walk(sending, sender, 8000)
}

/** Rounds of so many words, by a real count. */
async function walkLived(dialect: RunDialect, windowTokens: number, reasoningTokens: number, words = 200) {
  const chat = recordingOf([
    said('system', 'Be brief.'),
    said('user', 'What stands in src/first.ts?'),
    ...Array.from({ length: 14 }, (_, round) => {
      return [calling(`${round}`), result(`${round}`, wordsNamed(`of_${round}_`, words))]
    }).flat(),
    said('assistant', 'In src/first.ts stands what of_0_17 and of_13_40 say.'),
  ])
  const { count: countTokens } = await loadCounter('o200k_base')
  const lived = dialect === 'ollama' ? ollamaRecording(chat, { windowTokens, hasIds: true }) : chat
  const profile = withWindow({ strategy: 'truncate' }, windowTokens)
  const asked = { recording: lived, profile, room: roomOf(windowTokens), count: countTokens }
  const sender =
    dialect === 'ollama' || dialect === 'chat-completions'
      ? await openFoldgateSender(dialect === 'ollama' ? { ...asked, dialect } : asked)
      : await openLivedSender({ ...asked, dialect, reasoningTokens })
  return walk(lived, sender, windowTokens, countTokens)
}

async function walk(walked: Recording, sender: Sender, windowTokens: number, by = count) {
  const room = roomOf(windowTokens)
  const inputAt = openPolicyInput(walked, room, by)
  try {
    return await walkConversation({ recording: walked, sender, room, inputAt, count: by })
  } finally {
    await sender.close()
  }
}
