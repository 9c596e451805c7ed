import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../../src/conversation/json-value.ts'
import { openStand, post, readTool, roundsOf, user } from './stand.ts'

// A result that names tools is said again behind a fold, with its call. Where roles have to alternate, a user's message must
// not come next: it stood there by itself, and every form of the request was refused.
describe('behind tools that are said again, where roles have to alternate', () => {
  const found: readonly JsonObject[] = [
    user('Which tools are there?'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_search', name: 'search', input: {} }] },
    { role: 'user', content: [resultOf('toolu_search', [{ type: 'tool_reference', tool_name: 'read' }])] },
  ]

  test('the reply before a question is kept, or folded with it', async () => {
    const said = 'the quick brown fox jumps over the dog '.repeat(30)
    const turns = Array.from({ length: 4 }, (_, turn) => [
      { role: 'assistant', content: `Answer ${turn}: ${said}` },
      user(`Question ${turn}: ${said}`),
    ])
    const sent = await sentOf(2_500, [...found, ...turns.flat()])
    expect(repeatedRoles(sent)).toEqual([])
    expect(sent.length).toBeGreaterThan(4)
  })

  // What was said beside the results counted as a turn: the only legal cut was before it, and the newest round was folded.
  test('the newest round stays whole, with what is said beside its results', async () => {
    const rounds = roundsOf(12).map((message) => besideResults(message))
    const sent = await sentOf(6_000, [...found, ...rounds])
    expect(repeatedRoles(sent)).toEqual([])
    expect(sent.slice(-2)).toEqual(rounds.slice(-2))
  })
})

/** The messages of the view of a conversation. */
async function sentOf(windowTokens: number, messages: readonly JsonObject[]): Promise<readonly JsonObject[]> {
  const stand = await openStand({
    windowTokens,
    profile: { template: 'strict' },
    reply: () => ({ content: [{ type: 'text', text: 'Yes.' }] }),
  })
  expect((await post(stand, { messages, tools: [readTool], max_tokens: 100 })).status).toBe(200)
  const sent = (stand.upstream.requests.at(-1)?.rawMessages ?? []).map((raw): unknown => JSON.parse(raw))
  expect(sent.length).toBeLessThan(messages.length)
  return sent.filter(isJsonObject)
}

function repeatedRoles(messages: readonly JsonObject[]): readonly unknown[] {
  return messages.filter(({ role }, index) => role === messages[index - 1]?.['role'])
}

function resultOf(id: string, content: unknown): JsonObject {
  return { type: 'tool_result', tool_use_id: id, content }
}

function besideResults(message: JsonObject): JsonObject {
  const { content } = message
  const [first]: readonly unknown[] = Array.isArray(content) ? content : []
  if (!isJsonObject(first) || first['type'] !== 'tool_result') return message
  return { ...message, content: [first, { type: 'text', text: 'Take your time.' }] }
}
