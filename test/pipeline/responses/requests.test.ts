import { describe, expect, test } from 'vitest'
import { headings } from '../../../src/compaction/recap/headings.ts'
import type { Overflow } from '../../support/responses/responses-upstream.ts'
import { openStand, outputOf, post, roundsOf, user, type ResponsesStand, type StandOptions } from './stand.ts'

const said = { output: [{ type: 'message' as const, text: 'All is well.' }] }

/** Past its window of 4,000 by half. */
const input = [user('Read every part.'), ...roundsOf(10)]

const setting = (effort: string) => ({ type: 'configuration_update', reasoning: { effort } })

const opensStand = (profile = {}, more: Partial<StandOptions> = {}): Promise<ResponsesStand> =>
  openStand({ windowTokens: 4_000, profile, reply: () => said, ...more })

describe('a request for a compaction of the server’s own is folded until it fits', () => {
  test('in band, and what follows begins at the compaction', async () => {
    const stand = await opensStand()
    const answer = await post(stand, { input: [...input, { type: 'compaction_trigger' }] })
    expect(answer.headers.get('x-foldgate-action')).toBe('compacted')
    const [made] = outputOf(answer)
    expect(made).toMatchObject({ type: 'compaction' })
    expect(stand.upstream.requests[0]?.items.at(-1)).toMatchObject({ type: 'compaction_trigger' })

    // Far beyond the window once more: all up to the compaction stays as it is.
    const grown = [user('Read every part.'), made, user('And now the others.'), ...roundsOf(10, 10)]
    expect((await post(stand, { input: grown })).headers.get('x-foldgate-action')).toBe('compacted')
    const { rawItems = [] } = stand.upstream.requests.at(-1) ?? {}
    expect(rawItems.slice(0, 3)).toEqual(grown.slice(0, 3).map((item) => JSON.stringify(item)))
    expect(stand.upstream.requests.every(({ rejected }) => rejected === null)).toBe(true)
  })

  test('at its own path, and the answer is passed on untouched', async () => {
    const stand = await opensStand()
    const answer = await post(stand, { input }, '/responses/compact')
    expect(answer.headers.get('x-foldgate-action')).toBe('compacted')
    expect(JSON.parse(answer.text)).toMatchObject({ object: 'response.compaction' })
    expect(stand.upstream.requests.map(({ path }) => path)).toEqual(['/v1/responses/compact'])
  })
})

describe('what holds for all that follows is said again behind a fold', () => {
  test('added tools, each of them, and the last setting', async () => {
    const stand = await opensStand()
    const added = {
      type: 'additional_tools',
      role: 'developer',
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }],
    }
    const [task, ...rounds] = input
    const grown = [task, setting('low'), ...rounds.slice(0, 4), added, setting('high'), ...rounds.slice(4)]
    const answer = await post(stand, { input: grown })
    expect(answer.headers.get('x-foldgate-action')).toBe('compacted')
    const { items = [] } = stand.upstream.requests.at(-1) ?? {}
    expect(items.filter(({ type }) => type === 'additional_tools')).toEqual([added])
    expect(items.filter(({ type }) => type === 'configuration_update')).toEqual([setting('high')])
  })

  test('and a recap quotes neither: what was replaced says nothing, and takes no room', async () => {
    const stand = await opensStand()
    const [task, ...rounds] = input
    const updates = ['low', 'medium', 'high'].map(setting)
    const grown = [
      task,
      ...rounds.flatMap((item, index) =>
        [item, index % 2 === 1 ? (updates[(index - 1) / 2] ?? []) : []].flat(),
      ),
    ]
    await post(stand, { input: grown })
    const sent = stand.upstream.requests.at(-1)?.body.toString() ?? ''
    expect(sent).toContain('<conversation-recap>')
    expect(sent).not.toContain(headings.system)
  })
})

// Nothing was left of the whole conversation but its first message and its last, in a window that was empty otherwise.
test('where the newest round cannot be cut, what is folded is told', async () => {
  const stand = await opensStand()
  const told = { type: 'message', role: 'assistant', content: 'The port is 5017.' }
  const unknown = { type: 'telepathy', thought: 'the quick brown fox jumps '.repeat(1_000) }
  const answer = await post(stand, { input: [user('Find the port.'), told, unknown, user('Go on.')] })
  expect(answer.status).toBe(200)
  expect(JSON.stringify(stand.upstream.requests.at(-1)?.items)).toMatch(/<conversation-recap>.*5017/)
})

test('a conversation that is kept elsewhere than in the input is relayed, and says so', async () => {
  const stand = await opensStand()
  const relayed = [
    ['stateful', { previous_response_id: 'resp_1' }],
    ['stateful', { conversation: 'conv_1' }],
    ['stateful', { previous_input_messages: [{ role: 'user', content: 'Hello' }] }],
    ['stateful', { input: [{ type: 'item_reference', id: 'msg_1' }, ...input] }],
    ['stateful', { input: [{ id: 'msg_1' }, ...input] }],
    ['native', { context_management: [{ type: 'compaction', compact_threshold: 3_000 }] }],
  ] as const
  for (const [reason, fields] of relayed) {
    const { headers } = await post(stand, { input, ...fields })
    expect([fields, headers.get('x-foldgate-action')]).toEqual([fields, `relayed;reason=${reason}`])
  }
  expect(stand.upstream.requests).toHaveLength(relayed.length)
  // An empty list of messages keeps nothing.
  const { headers } = await post(stand, { input, previous_input_messages: [] })
  expect(headers.get('x-foldgate-action')).toBe('compacted')
})

test('an input that is one text is read, and goes on as it came', async () => {
  const stand = await opensStand({ recall: { enabled: true }, continuation: { max: 2 } })
  const answer = await post(stand, { input: 'Hello', instructions: 'Be brief.', stream: true })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'relayed'])
  expect(outputOf(answer)).toMatchObject([{ type: 'message' }])
  const [sent] = stand.upstream.requests
  expect(JSON.parse(sent?.body.toString() ?? '')).toMatchObject({ input: 'Hello' })
})

test('instructions beside the history count, and stay', async () => {
  const stand = await opensStand()
  const instructions = 'be careful and brief '.repeat(500)
  const answer = await post(stand, { input: [user('Read.'), ...roundsOf(4)], instructions })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'compacted'])
  const [sent] = stand.upstream.requests
  expect(JSON.parse(sent?.body.toString() ?? '')).toMatchObject({ instructions })
  expect(sent?.rejected).toBeNull()
})

// A client that had the server compact its history, and went on sending all of it, was counted for all of it: past the window
// by Foldgate's count, it lost the rounds since then, and they would have fitted.
test('what was done before the server’s own compaction weighs nothing', async () => {
  const stand = await opensStand()
  const done = [user('Read every part.'), ...roundsOf(8)]
  const [made] = outputOf(await post(stand, { input: [...done, { type: 'compaction_trigger' }] }))
  const since = [...done, made, user('Go on.'), ...roundsOf(2, 20)]
  const answer = await post(stand, { input: since })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'relayed'])

  const grown = [...since, ...roundsOf(6, 30)]
  const compacted = await post(stand, { input: grown })
  expect([compacted.status, compacted.headers.get('x-foldgate-action')]).toEqual([200, 'compacted'])
  // What the server has done with stays only as long as nothing has to go.
  const sent = stand.upstream.requests.at(-1)
  expect(sent?.rawItems.slice(0, 2)).toEqual([done[0], made].map((item) => JSON.stringify(item)))
  expect(sent?.promptTokens).toBeGreaterThan(1_000)
})

// What users had said before the server's compaction was never left out. Of a client that keeps all of it, as what
// `/responses/compact` answers does, every request was refused once it alone exceeded the window.
test('words from before it give way, the oldest first', async () => {
  const stand = await opensStand()
  const wishes = Array.from({ length: 12 }, (_, index) =>
    user(`Wish ${index}: ${'and then some more '.repeat(110)}`),
  )
  const [made] = outputOf(await post(stand, { input: [user('Read.'), { type: 'compaction_trigger' }] }))
  const grown = [...wishes, made, user('Go on.')]
  for (let round = 0; round < 8; round += 1) {
    const answer = await post(stand, { input: grown })
    expect([round, answer.status]).toEqual([round, 200])
    grown.push(...roundsOf(1, round))
  }
  const { requests } = stand.upstream
  expect(requests.filter(({ rejected }) => rejected !== null)).toEqual([])
  const kept = requests.slice(1).map(({ rawItems }) => rawItems.indexOf(JSON.stringify(made)))
  expect(new Set(kept)).toEqual(new Set([2]))
  for (const { rawItems } of requests.slice(1))
    expect(rawItems.slice(0, 2)).toEqual(wishes.slice(-2).map((item) => JSON.stringify(item)))
})

// A server that shows its model all that it is sent refused what it had just compacted.
test('what an upstream refuses for it is sent without what it has compacted', async () => {
  const stand = await opensStand({}, { showsPast: true })
  const [made] = outputOf(await post(stand, { input: [user('Read.'), { type: 'compaction_trigger' }] }))
  const answer = await post(stand, {
    input: [user('Read every part.'), ...roundsOf(12), made, user('Go on.')],
  })
  expect([answer.status, answer.headers.get('x-foldgate-action')]).toEqual([200, 'recovered'])
  const sent = [user('Read every part.'), made, user('Go on.')].map((item) => JSON.stringify(item))
  expect(stand.upstream.requests.at(-1)?.rawItems).toEqual(sent)
})

const shapes: readonly (readonly [string, Overflow])[] = [
  ['a 400', { shape: 'status' }],
  ['a stream that fails at once', { shape: 'stream' }],
  ['the same behind an error event', { shape: 'stream', errorEvent: 'nested' }],
  ['a code of a relay’s own', { shape: 'status', code: 'context_too_large' }],
]

/** A window that is too large is believed until the upstream says otherwise. */
const believed = { window: { tokens: 10_000 } }

describe.each([
  ['plain', false],
  ['streamed', true],
])('an overflow is recovered within the request, %s', (_, stream) => {
  test.each(shapes)('%s', async (_name, overflow) => {
    const stand = await opensStand(believed, { overflow })
    const { status, headers, text } = await post(stand, { input, stream, max_output_tokens: 500 })
    expect([status, headers.get('x-foldgate-action')]).toEqual([200, 'recovered'])
    expect(text).toContain('All is well.')
    expect(text).not.toMatch(/response\.failed|"error":\{/)
    const { requests } = stand.upstream
    expect(requests[0]?.rejected?.reason).toBe('window')
    expect(requests.at(-1)?.rejected).toBeNull()
  })

  test('where nothing helps the client gets the upstream’s own error', async () => {
    const overflow = { shape: 'stream', errorEvent: 'nested' } as const
    const stand = await opensStand(believed, { overflow, windowTokens: 10 })
    const { status, text } = await post(stand, { input, stream })
    expect(status).toBe(stream ? 200 : 400)
    expect(text).toContain('Your input exceeds the context window of this model.')
  })
})
