import { describe, expect, test } from 'vitest'
import type { TestMessage } from '../../support/conversations.ts'
import {
  cutWarnings,
  newestWithin,
  ollama,
  reporting,
  round,
  words,
  wordsOf,
} from '../../support/counting-server.ts'
import { json, type Script } from '../../support/fake-upstream.ts'
import { standWith, type Stand } from '../../support/stand.ts'
import { chatOf, postChat, type ChatReply } from '../../support/post-chat.ts'

// One report proves little, and what was believed once has to be given up again.

const hourMs = 3_600_000
const windowOf = (tokens: number) => ({ profile: { window: { tokens } } })

const systemOf = (size: number, seed = 0): TestMessage[] => [
  { role: 'system', content: words(size, seed) },
  { role: 'user', content: `Go on with the ${words(1, seed)}.` },
]

/** Reports these numbers one after the other, and where there is none what it received. */
function saying(numbers: readonly (number | null)[]): Script {
  let requests = 0
  return reporting((texts) => {
    requests += 1
    return numbers[requests - 1] ?? wordsOf(texts)
  })
}

/** Sends a conversation, and again each time that one of these results was added. */
async function sendGrowing(
  stand: Stand,
  messages: TestMessage[],
  sizes: readonly number[],
): Promise<readonly ChatReply[]> {
  const replies = [await postChat(stand.url, chatOf(messages))]
  for (const [index, size] of sizes.entries()) {
    messages.push(...round(index, words(size, index)))
    replies.push(await postChat(stand.url, chatOf(messages)))
  }
  return replies
}

const windowsIn = (replies: readonly ChatReply[]) => replies.map((reply) => reply.header('x-foldgate-window'))

const learntIn = (replies: readonly ChatReply[]) =>
  windowsIn(replies).filter((window) => window?.endsWith('learnt'))

const nothingLoaded = json({}, 404)

/** States what it has loaded, once it has begun to. */
function loadedFrom(hasBegun: () => boolean, tokens: number): Script {
  const list = json({ data: [{ id: 'test-model', owned_by: 'vllm', max_model_len: tokens }] })
  return (received) => {
    const isList = received.url === '/v1/models'
    return isList && hasBegun() ? list : isList ? json({}, 503) : nothingLoaded
  }
}

describe('a window is given up', () => {
  test('that was learnt from a cut, when a larger prompt is counted', async () => {
    // The count was taken for an overflow of the learnt window, which was learnt again with every answer: for ever.
    let nowMs = 0
    let capacity = 4096
    const server = ollama((texts) =>
      capacity < wordsOf(texts) ? newestWithin(capacity)(texts) : wordsOf(texts),
    )
    const profile = { every: { turns: 1000, tool_calls: 0 }, trigger: 'off' }
    await using stand = await standWith(server, { nowMs: () => nowMs, profile })
    const messages = systemOf(300)
    const cut = await sendGrowing(
      stand,
      messages,
      Array.from({ length: 24 }, () => 220),
    )
    expect(windowsIn(cut).at(-1)).toBe('4096;source=learnt')

    capacity = 60_000
    const other = systemOf(9000, 3)
    const raised = await sendGrowing(stand, other, [50, 50])
    expect(windowsIn(raised).at(-1)).toMatch(/^9\d\d\d;source=learnt$/)
    nowMs = 1.2 * hourMs
    const later = await sendGrowing(stand, other, [50])
    expect(windowsIn(later)).toEqual(['128000;source=default', '128000;source=default'])
  })

  test('that a table guessed, when its server says another, whatever was answered beyond it', async () => {
    // Each prompt beyond the guess was a refusal of it, and a refusal goes before what the server says.
    let hasBegun = false
    let nowMs = 0
    const onQuestion = loadedFrom(() => hasBegun, 32_768)
    await using stand = await standWith(reporting(wordsOf), { onQuestion, nowMs: () => nowMs })
    const request = { ...chatOf(systemOf(9000)), model: 'my-llama-2-7b' }
    expect((await postChat(stand.url, request)).header('x-foldgate-window')).toBe('4096;source=table')
    hasBegun = true
    nowMs = hourMs / 2
    const replies: ChatReply[] = []
    for (let again = 0; again < 3; again += 1) replies.push(await postChat(stand.url, request))
    expect(learntIn(replies)).toEqual([])
  })
})

describe('what some replicas of a model count otherwise is no cut', () => {
  test.each([
    [
      'a sixth less, one in five',
      (tokens: number, request: number) => (request % 5 === 0 ? tokens * 0.85 : tokens),
    ],
    [
      'a sixth less, in turns',
      (tokens: number, request: number) => (request % 2 === 0 ? tokens * 0.85 : tokens),
    ],
    ['tools in 3,000 fewer, in turns', (tokens: number, request: number) => tokens + (request % 2) * 3000],
  ])('%s', async (_how, counted) => {
    // One such report gave a window of 12,701 in the place of 60,000, and one more of 17,201.
    let requests = 0
    const replicas = reporting((texts) => {
      requests += 1
      return Math.round(counted(wordsOf(texts), requests))
    })
    await using stand = await standWith(replicas, windowOf(60_000))
    const replies = await sendGrowing(
      stand,
      systemOf(9000),
      Array.from({ length: 15 }, () => 300),
    )
    expect(learntIn(replies)).toEqual([])
    expect(cutWarnings(stand)).toEqual([])
  })
})

describe('a report that nobody can explain is no reason to fold', () => {
  const doubted = 5000
  // Each request adds 600 tokens to 9,000, so that 5,000 are too few and no remainder of anything.
  const added = [600, 600, 600]

  test('in a row, or after a count', async () => {
    await using stand = await standWith(saying([null, doubted, null, doubted + 10]), windowOf(60_000))
    const replies = await sendGrowing(stand, systemOf(9000), [...added, 600])
    expect(learntIn(replies)).toEqual([])
  })

  test('nor one of another conversation beside it', async () => {
    await using stand = await standWith(saying([null, null, doubted, doubted + 10]), windowOf(60_000))
    const [one, other] = [systemOf(9000), systemOf(9000, 3)]
    for (const messages of [one, other]) await postChat(stand.url, chatOf(messages))
    one.push(...round(1, words(600)))
    other.push(...round(1, words(1200)))
    const replies: ChatReply[] = []
    for (const messages of [one, other, systemOf(10)]) {
      replies.push(await postChat(stand.url, chatOf(messages)))
    }
    expect(learntIn(replies)).toEqual([])
  })

  test('nor that of a server which has begun to leave out what it cached', async () => {
    // It had counted before, and then a large result looked like all that was left.
    const server = saying([null, null, null, 104, 7204])
    await using stand = await standWith(server, windowOf(60_000))
    const replies = await sendGrowing(stand, systemOf(9000), [500, 500, 100, 7200, 10])
    expect(learntIn(replies)).toEqual([])
  })
})
