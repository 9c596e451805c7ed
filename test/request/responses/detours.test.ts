import { describe, expect, test } from 'vitest'
import { openStand, outputOf, post, roundsOf, user } from './stand.ts'

const tools = [
  { type: 'function', name: 'read', parameters: { type: 'object', properties: {} }, strict: false },
]

const callToRead = {
  type: 'function_call',
  callId: 'call_recall',
  name: 'recall_conversation',
  arguments: '{"messages":"#3"}',
} as const

/** Past a window of 4,000 by half. */
const input = [user('Read every part.'), ...roundsOf(10)]

describe.each([
  ['plain', false],
  ['streamed', true],
])('what the model asks of Foldgate is answered within one response, %s', (_, stream) => {
  test('a call that reads back: the client sees neither it nor the thoughts behind it', async () => {
    const stand = await openStand({
      windowTokens: 4_000,
      profile: { recall: { enabled: true } },
      reply: ({ items }) =>
        items.some(({ type, name }) => type === 'function_call' && name === 'recall_conversation')
          ? { output: [{ type: 'reasoning' }, { type: 'message', text: 'It said fox.' }] }
          : { output: [{ type: 'reasoning' }, callToRead] },
    })
    const answer = await post(stand, { input, tools, stream, include: ['reasoning.encrypted_content'] })
    expect(answer.status).toBe(200)
    const output = outputOf(answer)
    expect(output).toMatchObject([{ type: 'message', content: [{ text: 'It said fox.' }] }])
    expect(stand.upstream.requests).toHaveLength(2)
    const read = stand.upstream.requests[1]?.items.at(-1)
    expect(JSON.stringify(read)).toContain('the quick brown fox')
    expect(stand.upstream.requests.flatMap(({ removed }) => removed)).toEqual([])

    // The client goes on with what it got, and the server misses nothing of it.
    const next = [...input, ...output, user('And then?')]
    expect((await post(stand, { input: next, tools, stream })).status).toBe(200)
    expect(stand.upstream.requests.every(({ rejected }) => rejected === null)).toBe(true)
    expect(stand.upstream.requests.flatMap(({ removed }) => removed)).toEqual([])
  })

  // They went on behind a shorter history, where the server left them out.
  test('thoughts that led to a reading back are left out where the history has to be shortened behind it', async () => {
    const long = 'a line of the report that is being written here '.repeat(60)
    const stand = await openStand({
      windowTokens: 4_000,
      profile: { recall: { enabled: true }, continuation: { max: 2 } },
      reply: ({ items }) => {
        const said = JSON.stringify(items.slice(-3))
        if (said.includes('cut off')) return { output: [{ type: 'message', text: 'That is all.' }] }
        return said.includes('call_recall')
          ? {
              output: [{ type: 'reasoning' }, { type: 'message', text: long }],
              end: { status: 'incomplete', reason: 'max_output_tokens' },
            }
          : { output: [{ type: 'reasoning' }, callToRead] }
      },
    })
    const answer = await post(stand, { input, tools, stream })
    expect(JSON.stringify(outputOf(answer))).toContain('That is all.')
    const sent = stand.upstream.requests.map(({ items }) => items.length)
    expect(sent).toHaveLength(3)
    expect(sent[2]).toBeLessThan(sent[1] ?? 0)
    expect(stand.upstream.requests.flatMap(({ removed }) => removed)).toEqual([])
    expect(stand.upstream.requests.every(({ rejected }) => rejected === null)).toBe(true)
  })

  // The shorter history was on record, and behind it the server left out the thoughts that the client had got and sent back.
  test('thoughts of a reply that was cut are not lost to a history that was shortened for the rest of it', async () => {
    const stand = await openStand({
      windowTokens: 4_000,
      profile: { window: { tokens: 4_000, output_reserve: 500 }, continuation: { max: 2 } },
      reply: ({ items }) => {
        const isCut = items.length > 1 && !JSON.stringify(items).includes('That is all.')
        if (JSON.stringify(items.at(-1)).includes('cut off'))
          return { output: [{ type: 'message', text: 'That is all.' }] }
        return isCut
          ? {
              output: [
                { type: 'reasoning', tokens: 8 },
                { type: 'message', text: 'a line of it '.repeat(350) },
              ],
              end: { status: 'incomplete', reason: 'max_output_tokens' },
            }
          : { output: [{ type: 'message', text: 'Done.' }] }
      },
    })
    const answer = await post(stand, { input, tools, stream })
    const output = outputOf(answer)
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
    expect(JSON.stringify(output)).toContain('That is all.')
    const [history, shortened] = stand.upstream.requests.map(({ items }) => JSON.stringify(items.slice(0, 3)))
    expect(shortened).not.toBe(history)

    const next = [...input, ...output, user('And then?')]
    expect((await post(stand, { input: next, tools, stream })).status).toBe(200)
    expect(stand.upstream.requests.flatMap(({ removed }) => removed)).toEqual([])
    expect(stand.upstream.requests.every(({ rejected }) => rejected === null)).toBe(true)
  })

  test('a reply that was cut goes on in the same message', async () => {
    const stand = await openStand({
      windowTokens: 100_000,
      profile: { continuation: { max: 2 } },
      reply: ({ items }) => {
        const last = JSON.stringify(items.at(-1) ?? {})
        return last.includes('cut off')
          ? { output: [{ type: 'message', text: ' the other ninety nine lines of it all.' }] }
          : {
              output: [{ type: 'message', text: 'Here is the first line of it all, and then come' }],
              end: { status: 'incomplete', reason: 'max_output_tokens' },
            }
      },
    })
    const answer = await post(stand, { input: [user('Write it all.')], stream })
    const [message, ...others] = outputOf(answer)
    expect(others).toEqual([])
    expect(JSON.stringify(message)).toContain(
      'Here is the first line of it all, and then come the other ninety nine lines of it all.',
    )
    expect(answer.text).toContain('"status":"completed"')
  })
})

// A client may name the answer by its id in its next request: what the server has under it is the first of several.
test('where the server keeps the answer, it is the one that came', async () => {
  const stand = await openStand({
    windowTokens: 100_000,
    profile: { recall: { enabled: true }, continuation: { max: 2 } },
    reply: () => ({
      output: [{ type: 'message', text: 'Here is the first line of it all, and' }],
      end: { status: 'incomplete', reason: 'max_output_tokens' },
    }),
  })
  const answer = await post(stand, { input: [user('Write it all.')], tools, store: true })
  expect(answer.text).toContain('"status":"incomplete"')
  expect(stand.upstream.requests).toHaveLength(1)
  expect(stand.upstream.requests[0]?.body.toString()).not.toContain('recall_conversation')
})

test('a summary is asked of the same model in the same dialect, and stands in the place of what was folded', async () => {
  const stand = await openStand({
    windowTokens: 4_000,
    profile: { strategy: 'summarize', summary: { wait_ms: 10_000 } },
    reply: ({ body }) => {
      const isSummary = body['stream'] !== true
      const text = isSummary
        ? '## Task\nRead every part.\n## State\nThe parts up to the newest were read, and each said that the quick brown fox jumps over the dog.'
        : 'I go on.'
      return { output: [{ type: 'message', text }] }
    },
  })
  const conversation = [...input]
  let summary = ''
  for (let turn = 0; turn < 12 && summary !== 'ready'; turn += 1) {
    const answer = await post(stand, { input: conversation, stream: true })
    expect(answer.status).toBe(200)
    summary = answer.headers.get('x-foldgate-summary') ?? ''
    conversation.push(...outputOf(answer), user(`Go on with part ${turn}.`), ...roundsOf(1, 20 + turn))
    if (summary === 'pending') await new Promise((resolve) => setTimeout(resolve, 300))
  }
  expect(summary).toBe('ready')
  expect(stand.upstream.requests.every(({ rejected }) => rejected === null)).toBe(true)
  expect(stand.upstream.requests.some(({ body }) => !body.includes('"stream":true'))).toBe(true)
  expect(stand.upstream.requests.at(-1)?.body.toString()).toContain('<conversation-summary>')
})
