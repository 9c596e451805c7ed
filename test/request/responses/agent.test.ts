import { describe, expect, test } from 'vitest'
import {
  developer,
  live,
  openStand,
  outputOf,
  post,
  readTool,
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
