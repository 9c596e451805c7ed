import { expect, test } from 'vitest'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { requestPoints, type Recording } from '../replay/recordings.ts'
import { openFoldgateSender } from './foldgate-sender.ts'
import { calling, result, said, wordsNamed } from './hand-made.ts'
import { openPolicyInput, type Room } from './policy-sender.ts'
import { withWindow } from './profiles.ts'
import { isSound, isWorkable } from './tally.ts'
import { walkConversation } from './walk-conversation.ts'
import { openMessagesSender } from './messages/messages-sender.ts'
import { openLivedSender } from './responses/lived-sender.ts'

const openers = { responses: openLivedSender, messages: openMessagesSender }
type Api = keyof typeof openers

test.each<Api>(['responses', 'messages'])(
  'where everything fits, the answers to all questions are those of the chat: %s',
  async (api) => {
    const room = { windowTokens: 100_000, reserveTokens: 4000 }
    const chat = await walk(room, null)
    const lived = await walk(room, { api, reasoningTokens: 200 })
    // Reasoning takes room, which each table tells.
    const [chatTokens, livedTokens] = [chat.promptTokens, lived.promptTokens]
    expect(livedTokens).toBeGreaterThan(chatTokens)
    expect({ ...lived, promptTokens: chatTokens, cachedTokens: chat.cachedTokens }).toEqual(chat)
    expect(chat.things).toBeGreaterThan(0)
  },
)

// Story: the newest messages had a third of the room, reasoning included. That goes with the compaction, so that what was
// left of them was a quarter, and less where more was thought.
test.each<Api>(['responses', 'messages'])(
  'a compaction leaves a third of the room to the newest messages, whatever was thought: %s',
  async (api) => {
    const room = { windowTokens: 12_000, reserveTokens: 4000 }
    for (const reasoningTokens of [0, 300]) {
      const tally = await walk(room, { api, reasoningTokens })
      expect(isSound(tally) && isWorkable(tally)).toBe(true)
      expect(tally.compactions).toBeGreaterThan(0)
      for (const recent of tally.recents) expect(recent).toBeGreaterThan(0.3)
    }
  },
)

// Story: so that thoughts could stay, the newest result was cut to fit beside them, however small it was.
test('a small newest result is whole, although the thoughts before it go for that', async () => {
  const room = { windowTokens: 12_000, reserveTokens: 4000 }
  const tally = await walk(room, { api: 'responses', reasoningTokens: 300 }, 70)
  expect(tally.compactions).toBeGreaterThan(0)
  expect(isSound(tally) && isWorkable(tally)).toBe(true)
})

// --- internal ---

/** Rounds of so many words. */
function recordingOf(words: number): Recording {
  const messages = [
    said('system', 'Be brief.'),
    said('user', 'What stands in src/first.ts?'),
    ...Array.from({ length: 14 }, (_, round) => [
      calling(`${round}`),
      result(`${round}`, wordsNamed(`of_${round}_`, words)),
    ]).flat(),
    said('assistant', 'In src/first.ts stands what of_0_17 and of_13_40 say.'),
  ]
  const around = { before: '"model":"gpt-4o"', after: '', tools: '' }
  return { file: 'own', id: 'one', messages, points: requestPoints(messages), ...around }
}

/** `lived`: null for a chat. */
async function walk(
  room: Room,
  lived: { readonly api: Api; readonly reasoningTokens: number } | null,
  words = 200,
) {
  const recording = recordingOf(words)
  const { count } = await loadCounter('o200k_base')
  const profile = withWindow({ strategy: 'truncate' }, room.windowTokens)
  const asked = { recording, profile, room, count }
  const sender =
    lived === null
      ? await openFoldgateSender(asked)
      : await openers[lived.api]({ ...asked, reasoningTokens: lived.reasoningTokens })
  const inputAt = openPolicyInput(recording, room, count)
  try {
    return await walkConversation({ recording, sender, room, inputAt, count })
  } finally {
    await sender.close()
  }
}
