import { expect, test } from 'vitest'
import { rawMessage, requestPoints, type Recording } from '../replay/recordings.ts'
import { openFoldgateSender } from './foldgate-sender.ts'
import { headAndSuffix, newestSuffix } from './policies.ts'
import { openPolicyInput, openPolicySender } from './policy-sender.ts'
import { withWindow } from './profiles.ts'
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
  expect(tally).toMatchObject({ requests: 13, strides: 0, beyond: 0, refused: 0, errors: 0 })
  expect(tally.things).toBe(3)
  expect([tally.thingsHeld, tally.runsHeld]).toEqual([tally.things, tally.runs])
  expect(tally.cachedTokens).toBeGreaterThan(0)
})

test('a small window costs strides, and nothing that is refused or broken', async () => {
  const tally = await walkFoldgate(8000)
  expect(tally.strides).toBeGreaterThan(0)
  expect(tally.beyond).toBe(0)
  expect(isSound(tally)).toBe(true)
})

test('with summaries, the same holds of what the upstream gets', async () => {
  const tally = await walkFoldgate(8000, 'summarize')
  expect(tally.requests).toBe(13)
  expect(tally.strides).toBeGreaterThan(0)
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
    return await walkConversation({ recording, sender, room, inputAt })
  } finally {
    await sender.close()
  }
}

function walkPolicy(policy: typeof newestSuffix) {
  const room = { windowTokens: 8000, reserveTokens: 4000 }
  const inputAt = openPolicyInput(recording, room, count)
  const sender = openPolicySender(policy, recording, inputAt, count)
  return walkConversation({ recording, sender, room, inputAt })
}
