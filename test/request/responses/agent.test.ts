import { describe, expect, test } from 'vitest'
import { openStand, outputOf, post, user, type Item, type ResponsesStand } from './stand.ts'

const WINDOW_TOKENS = 8_000

const tools = [
  { type: 'function', name: 'read', parameters: { type: 'object', properties: {} }, strict: false },
]

/** What a client that keeps its own history does: it sends all of it each time, and takes over what it is answered. */
async function live(stand: ResponsesStand, rounds: number, stream: boolean): Promise<string[]> {
  const input: Item[] = [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'You are careful.' }] },
    user('Read every part and say what is wrong with it.'),
  ]
  const actions: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const answer = await post(stand, { input, stream, tools, include: ['reasoning.encrypted_content'] })
    expect(answer.status).toBe(200)
    actions.push(answer.headers.get('x-foldgate-action') ?? '')
    for (const item of outputOf(answer)) {
      input.push(item)
      if (item['type'] !== 'function_call') continue
      const output = `part ${round}: ${'the quick brown fox jumps over the lazy dog again '.repeat(40)}`
      input.push({ type: 'function_call_output', call_id: item['call_id'], output })
    }
  }
  return actions
}

describe.each([
  ['plain', false],
  ['streamed', true],
])('an agent goes on past its window, %s', (_, stream) => {
  test('every request is answered, pairs and groups stay whole, and reasoning is lost at compactions only', async () => {
    let called = 0
    const stand = await openStand({
      windowTokens: WINDOW_TOKENS,
      reply: () => ({
        output: [
          { type: 'reasoning', tokens: 60 },
          { type: 'message', text: `I read part ${called}.`, phase: 'commentary' },
          {
            type: 'function_call',
            callId: `call_${(called += 1)}`,
            name: 'read',
            arguments: `{"part":${called}}`,
          },
        ],
      }),
    })
    const actions = await live(stand, 40, stream)
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
    for (const item of outputOf(await post(stand, { input, tools }))) {
      input.push(item)
      if (item['type'] !== 'function_call') continue
      const output = Array.from({ length: words }, (_, index) => `part ${index}`).join(' ')
      input.push({ type: 'function_call_output', call_id: item['call_id'], output })
    }
  }
  const answer = await post(stand, { input, tools })
  expect(answer.headers.get('x-foldgate-passes')).toBe('clip')
  const { requests } = stand.upstream
  expect(requests.flatMap(({ rejected, removed }) => [rejected ?? [], removed].flat())).toEqual([])
  // The third request shortens the output further: that costs the second thought, which was made on it, and not the first.
  const thoughts = requests.map(({ items }) => items.filter(({ type }) => type === 'reasoning'))
  expect(thoughts.map(({ length }) => length)).toEqual([0, 1, 1, 2])
  for (const [first] of thoughts.slice(1)) expect(first).toEqual(input[1])
  for (const { promptTokens } of requests) expect(promptTokens).toBeLessThanOrEqual(WINDOW_TOKENS)
})
