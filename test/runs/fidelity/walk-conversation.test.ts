import { expect, test } from 'vitest'
import { rawMessage, requestPoints, type RawMessage, type Recording } from '../replay/recordings.ts'
import { openFoldgateSender } from './foldgate-sender.ts'
import { headAndSuffix, newestSuffix } from './policies.ts'
import { openPolicyInput, openPolicySender } from './policy-sender.ts'
import { withWindow } from './profiles.ts'
import type { Sender } from './sender.ts'
import { isSound } from './tally.ts'
import { walkConversation } from './walk-conversation.ts'

const filler = 'and so on it goes, word after word '.repeat(60)

const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'What stands in src/first.ts?' },
  ...Array.from({ length: 12 }, (_, round) => roundOf(round)).flat(),
  { role: 'assistant', content: 'In src/first.ts stands what file_0 and file_11 say.' },
].map((message) => rawMessage(JSON.stringify(message)))

const recording: Recording = {
  file: 'own',
  id: 'one',
  messages,
  points: requestPoints(messages),
  before: '"model":"gpt-4o"',
  after: '',
  tools: '',
}

test('where everything fits, everything is held and the prompt only grows', async () => {
  const tally = await walkFoldgate(100_000)
  expect(tally).toMatchObject({ requests: 13, compactions: 0, beyond: 0, refused: 0, errors: 0 })
  expect(tally.things).toBe(3)
  expect([tally.thingsHeld, tally.runsHeld]).toEqual([tally.things, tally.runs])
  expect(tally.cachedTokens).toBeGreaterThan(0)
})

test('a small window costs compactions, and nothing that is refused or broken', async () => {
  const tally = await walkFoldgate(8000)
  expect(tally.compactions).toBeGreaterThan(0)
  expect(tally.beyond).toBe(0)
  expect(isSound(tally)).toBe(true)
})

test('with summaries, the same holds of what the upstream gets', async () => {
  const tally = await walkFoldgate(8000, 'summarize')
  expect(tally.requests).toBe(13)
  expect(tally.compactions).toBeGreaterThan(0)
  expect(tally.beyond).toBe(0)
  expect(isSound(tally)).toBe(true)
})

test('the newest suffix holds nothing of what it has lost itself, and one behind the task does', async () => {
  const bare = await walkPolicy(newestSuffix)
  expect(bare.farThings).toBeGreaterThan(0)
  expect(bare.farThingsHeld).toBe(0)
  const pinned = await walkPolicy(headAndSuffix)
  expect(pinned.farThings).toBe(bare.farThings)
  expect(pinned.farThingsHeld).toBeGreaterThan(0)
})

test('nothing is lost of what an agent goes on from where everything fits', async () => {
  const tally = await walkFoldgate(100_000)
  expect(tally).toMatchObject({
    newestAbsent: 0,
    samePrompt: 0,
    taskGone: 0,
    tooLarge: 0,
    gaps: [],
    fills: [],
  })
  expect([tally.actionsHeld, tally.observationsHeld]).toEqual([tally.actions, tally.observations])
})

test('each compaction is measured once, and the first has none before it', async () => {
  const tally = await walkFoldgate(8000)
  expect(tally.compactions).toBeGreaterThan(1)
  expect(tally.recents).toHaveLength(tally.compactions)
  expect(tally.fills).toHaveLength(tally.compactions)
  expect(tally.gaps).toHaveLength(tally.compactions - 1)
  for (const share of [...tally.recents, ...tally.fills]) {
    expect(share).toBeGreaterThanOrEqual(0)
    expect(share).toBeLessThanOrEqual(1)
  }
})

test('a view that stays the same while the conversation goes on is found', async () => {
  const opening = messages.slice(0, 2)
  const tally = await walkSending(() => opening)
  // The first request's newest message is the task itself.
  expect(tally).toMatchObject({ requests: 13, samePrompt: 12, newestAbsent: 12, taskGone: 0, compactions: 0 })
})

test('a request that is sent again is no other one', async () => {
  const again: Recording = { ...recording, points: [2, 4, 4, 6] }
  const tally = await walkSending((point) => messages.slice(0, point), again)
  expect(tally).toMatchObject({ requests: 4, samePrompt: 0 })
})

test('where the first request is left out, only what went wrong with it counts', async () => {
  const whole = await walkSending((point) => messages.slice(0, point))
  const rest = await walkSending((point) => messages.slice(0, point), recording, { isFirstLeftOut: true })
  expect([whole.requests, rest.requests]).toEqual([13, 12])
  expect([whole.errors, rest.errors]).toEqual([13, 13])
  expect(rest.promptTokens).toBe(whole.promptTokens - 100)
})

test('what system messages leave no room for is the upstream’s to decide, but has to show the newest message', async () => {
  const large = rawMessage(JSON.stringify({ role: 'system', content: filler.repeat(10) }))
  const fixed: Recording = { ...recording, messages: [large, ...messages.slice(1)] }
  const seeing = await walkSending((point) => fixed.messages.slice(0, point), fixed)
  expect(seeing).toMatchObject({
    requests: 0,
    tooLarge: 13,
    errors: 0,
    newestAbsent: 0,
    samePrompt: 0,
    taskGone: 0,
  })
  const blind = await walkSending(() => fixed.messages.slice(0, 2), fixed)
  expect(blind).toMatchObject({ requests: 0, tooLarge: 13, newestAbsent: 12, samePrompt: 12 })
})

test('a single request, of which no next message is known, is measured by its view', async () => {
  const single: Recording = { ...recording, messages: messages.slice(0, 6), points: [6] }
  const tally = await walkSending(() => messages.slice(0, 4), single)
  expect(tally).toMatchObject({ requests: 1, things: 0, newestAbsent: 1, actions: 2, actionsHeld: 1 })
})

test('views that are not what the client sent are shown', async () => {
  const points: number[] = []
  const onView = ({ point }: { readonly point: number }) => points.push(point)
  await walkSending((point) => messages.slice(point > 20 ? 2 : 0, point), recording, { onView })
  expect(points).toEqual([22, 24, 26])
})

// --- internal ---

/** A token for four characters serves for a judge. */
function count(text: string): number {
  return Math.ceil(text.length / 4)
}

function roundOf(round: number) {
  const called = { name: 'read', arguments: JSON.stringify({ path: `file_${round}` }) }
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `${round}`, type: 'function', function: called }],
    },
    { role: 'tool', tool_call_id: `${round}`, content: `file_${round} says: ${round} ${filler}` },
  ]
}

async function walkFoldgate(windowTokens: number, strategy = 'truncate') {
  const room = { windowTokens, reserveTokens: 4000 }
  const profile = withWindow({ strategy }, windowTokens)
  const sender = await openFoldgateSender({ recording, profile, room, count })
  const inputAt = openPolicyInput(recording, room, count)
  try {
    return await walkConversation({ recording, sender, room, inputAt, count })
  } finally {
    await sender.close()
  }
}

/** A sender of these messages at each request, all of which are called errors. */
function walkSending(
  sentAt: (point: number) => readonly RawMessage[],
  sending: Recording = recording,
  options: Pick<Parameters<typeof walkConversation>[0], 'isFirstLeftOut' | 'onView'> = {},
) {
  const room = { windowTokens: 8000, reserveTokens: 4000 }
  const sender: Sender = {
    send: async (point) => {
      const rawMessages = sentAt(point).map(({ text }) => text)
      return { received: { rawMessages, promptTokens: 100, cachedTokens: 0 }, faults: { errors: 1 } }
    },
    close: async () => {},
  }
  const inputAt = openPolicyInput(sending, room, count)
  return walkConversation({ recording: sending, sender, room, inputAt, count, ...options })
}

function walkPolicy(policy: typeof newestSuffix) {
  const room = { windowTokens: 8000, reserveTokens: 4000 }
  const inputAt = openPolicyInput(recording, room, count)
  const sender = openPolicySender(policy, recording, inputAt, count)
  return walkConversation({ recording, sender, room, inputAt, count })
}
