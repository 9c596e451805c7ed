import { describe, expect, test } from 'vitest'
import {
  developer,
  live,
  openStand,
  outputOf,
  post,
  readTool,
  roundsOf,
  thinkingReader,
  user,
  type Item,
} from './stand.ts'

const WINDOW_TOKENS = 8_000

describe.each([
  ['plain', false],
  ['streamed', true],
])('an agent goes on past its window, %s', (_, stream) => {
  test('every request is answered, pairs and groups stay whole, and reasoning is lost at compactions only', async () => {
    const stand = await openStand({ windowTokens: WINDOW_TOKENS, reply: thinkingReader() })
    const input = [developer('You are careful.'), user('Read every part and say what is wrong with it.')]
    const answers = await live(stand, input, { rounds: 40, stream })
    const actions = answers.map(({ headers }) => headers.get('x-foldgate-action') ?? '')
    const { requests } = stand.upstream
    expect(requests.filter(({ rejected }) => rejected !== null)).toEqual([])
    expect(requests.flatMap(({ removed }) => removed)).toEqual([])
    expect(actions.filter((action) => action === 'compacted').length).toBeGreaterThan(20)
    for (const { promptTokens } of requests) expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
    // Between two compactions all that was thought since the first of them goes along.
    const thoughts = requests.map(({ items }) => items.filter(({ type }) => type === 'reasoning'))
    expect(Math.max(...thoughts.slice(20).map(({ length }) => length))).toBeGreaterThan(1)
  })
})

// An output that exceeded the window by itself was cut, which changes nothing before it: yet the thoughts that had led to it,
// and were never sent before, were taken out.
test('what was thought stays where a compaction changes only what follows it', async () => {
  let called = 0
  const stand = await openStand({
    windowTokens: WINDOW_TOKENS,
    reply: () => ({
      output: [
        { type: 'reasoning', tokens: 60 },
        {
          type: 'function_call',
          callId: `call_${(called += 1)}`,
          name: 'read',
          arguments: `{"part":${called}}`,
        },
      ],
    }),
  })
  const input: Item[] = [user('Read every part and say what is wrong with it.')]
  for (const words of [9_000, 100, 100]) {
    for (const item of outputOf(await post(stand, { input, tools: [readTool] }))) {
      input.push(item)
      if (item['type'] !== 'function_call') continue
      const output = Array.from({ length: words }, (_, index) => `part ${index}`).join(' ')
      input.push({ type: 'function_call_output', call_id: item['call_id'], output })
    }
  }
  const answer = await post(stand, { input, tools: [readTool] })
  expect(answer.headers.get('x-foldgate-passes')).toBe('clip')
  const { requests } = stand.upstream
  expect(requests.flatMap(({ rejected, removed }) => [rejected ?? [], removed].flat())).toEqual([])
  // The third request shortens the output further: that costs the second thought, which was made on it, and not the first.
  const thoughts = requests.map(({ items }) => items.filter(({ type }) => type === 'reasoning'))
  expect(thoughts.map(({ length }) => length)).toEqual([0, 1, 1, 2])
  for (const [first] of thoughts.slice(1)) expect(first).toEqual(input[1])
  for (const { promptTokens } of requests) expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
})

// A request for approval is answered by its id, which stayed when its reasoning went: the server refused that, and everything
// after it.
test('what cannot do without its id keeps the reasoning that the server demands for it', async () => {
  let asked = 0
  const request = {
    type: 'mcp_approval_request',
    id: 'mcpr_1',
    server_label: 's',
    name: 'pay',
    arguments: '{}',
  }
  const stand = await openStand({
    windowTokens: 7_000,
    changesPrefix: true,
    reply: () => {
      asked += 1
      return {
        output:
          asked === 1
            ? [{ type: 'reasoning' }, { type: 'verbatim', item: request }]
            : [{ type: 'message', text: 'Paid.' }],
      }
    },
  })
  const input = [user('Pay the bill.'), ...roundsOf(3)]
  const thought = outputOf(await post(stand, { input }))
  const approved = { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true }
  const answer = await post(stand, { input: [...input, ...thought, approved, ...roundsOf(3, 10)] })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'compacted'])
  const sent = stand.upstream.requests.at(-1)?.items.map(({ type }) => type)
  expect(sent).toContain('mcp_approval_request')
  expect(stand.upstream.requests.every(({ rejected }) => rejected === null)).toBe(true)
})
