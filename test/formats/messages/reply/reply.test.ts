import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/json/json-value.ts'
import type { StreamEvent } from '../../../../src/formats/answer-contract.ts'
import { messages as dialect } from '../../../../src/formats/messages/messages.ts'
import { asStream } from '../../../../src/formats/typed-events.ts'
import { withOwnIds } from '../../../../src/formats/turns.ts'
import { continuationSeam } from '../../../../src/pipeline/reply/seams.ts'
import { continuing, eventOf, eventsIn, joiningOf, recalling } from '../../joined.ts'
import { callOf, messageOf, ping, readStrictly, search, streamOf, text, thought } from './streamed.ts'

const { joinedBodies, joinedStreams } = joiningOf(dialect.replies)

const eventsOf = (body: unknown): string[] =>
  (asStream(dialect.answers, body)?.text ?? '').split(/(?<=\n\n)/).filter((event) => event !== '')

/** The messages, as JSON, by which a model goes on behind these blocks, all of whose calls were answered. */
function turn(content: readonly JsonObject[], before = '', reason = 'tool_use'): readonly string[] {
  const reply = dialect.replies.read(messageOf(content, { reason })) ?? expect.fail('no reply')
  const answered = reply.calls.map((call) => ({ call, answer: `answer to ${call.id}` }))
  return dialect.replies.answeredCalls(before + (reply.text ?? ''), reply, withOwnIds(answered, 2))
}

const parsed = (messages: readonly string[]) => messages.map((message): unknown => JSON.parse(message))
const answerTo = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: `answer to ${id}` })
const secret = { type: 'redacted_thinking', data: 'x' }

const usageOf = (tokens: number) => ({
  input_tokens: tokens,
  cache_read_input_tokens: 1,
  cache_creation_input_tokens: 2,
  output_tokens: 3,
})
const done: StreamEvent = { text: 'data: [DONE]\n\n' }
const overloaded = eventOf({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })

describe('an answer that calls no tool of ours', () => {
  const streams: readonly (readonly [string, readonly StreamEvent[]])[] = [
    ['a refusal', streamOf([text('Hel')], { reason: 'refusal' })],
    ['no end', streamOf([thought(), text('Hello')]).slice(0, -3)],
    ['comments and pings', [{ text: ': x\n\n' }, ping, ...streamOf([text('x')]), { text: ': y\n\n' }]],
    ['a word behind the end', [...streamOf([text('x')]), done]],
    ['a type that nobody knows', [...streamOf([text('x')]), eventOf({ type: 'telepathy', index: 7 })]],
    [
      'no names of events',
      streamOf([thought(), text('x'), callOf('bash')]).map((event) => ({
        text: event.text.replace(/^event: .*\n/, ''),
      })),
    ],
    [
      'places with gaps',
      streamOf([text('x'), callOf('bash')]).filter(({ text: event }) => !/x|:0}/.test(event)),
    ],
  ]
  test.each(streams)('passes event by event, as it came: %s', (_, events) => {
    for (const rules of [recalling, continuing, { toolName: null, continues: true }]) {
      const { out } = joinedStreams([events], rules)
      expect(out.length).toBe(events.length)
      for (const [at, event] of out.entries()) expect(event).toBe(events[at])
    }
  })

  test('goes on at once, thoughts too', () => {
    const events = streamOf([thought(), text('Hello'), callOf('bash')])
    const stream = dialect.replies.join<StreamEvent>(recalling)
    expect(events.map((event) => stream.take(event).length)).toEqual(events.map(() => 1))
  })

  test('an error is not gone on from, and passes with what waited for it', () => {
    const events = [...streamOf([text('x'), callOf('bash')]).slice(0, -3), overloaded]
    const { out, replies } = joinedStreams([events], continuing)
    expect(out).toEqual(events)
    expect(replies).toEqual([null])
  })
})

describe('a call of our tool', () => {
  const asking = streamOf(
    [thought(), text('Let me look.'), callOf('recall', { search: 'x' }), callOf('recall', {}, 'toolu_2')],
    { usage: usageOf(10) },
  )
  const answering = streamOf([thought('So.'), text('It is 42.'), callOf('bash', { a: 1 })], {
    id: 'msg_2',
    usage: usageOf(20),
  })

  test('of the client’s with the beginning of its name, or the server’s, is not ours', () => {
    const events = streamOf([callOf('recall_mail'), { ...callOf('recall'), type: 'server_tool_use' }])
    expect(joinedStreams([events], recalling).out).toEqual(events)
  })

  test('a call whose arguments are there at its beginning is read, too', () => {
    const [start, , , ...rest] = streamOf([callOf('recall')])
    const begun = { type: 'content_block_start', index: 0, content_block: callOf('recall', { search: 'x' }) }
    const { replies } = joinedStreams([[start ?? ping, eventOf(begun), ...rest], answering], recalling)
    expect(replies[0]?.calls).toMatchObject([{ argumentsText: '{"search":"x"}' }])
  })

  test('a reply that another went on from is not taken for one if that failed', () => {
    const { out, replies } = joinedStreams([asking, [overloaded]], recalling)
    expect(replies[1]).toBeNull()
    expect(out.at(-1)).toBe(overloaded)
  })
})

describe('a reply that was cut', () => {
  const cut = { reason: 'max_tokens' }
  const told = 'It was a dark and stormy night, and the rain fell in torrents, except at'
  const first = streamOf([thought(), text(told)], { ...cut, usage: usageOf(10) })

  test('goes on behind what is no text in a block of its own', () => {
    const searched = streamOf([text(told), ...search()], cut)
    const { out } = joinedStreams([searched, streamOf([text('More.')])], continuing)
    expect(readStrictly(out)['content']).toEqual([text(told), ...search(), text('More.')])
  })

  test('a call is held until what follows it is there', () => {
    const events = streamOf([callOf('write', { a: 1 }), callOf('read')])
    const stream = dialect.replies.join<StreamEvent>(continuing)
    const counts = events.map((event) => stream.take(event).length)
    const next = events.findLastIndex(({ text: event }) => event.includes('content_block_start'))
    expect(counts.slice(1, next + 1)).toEqual([...events.slice(1, next).map(() => 0), next - 1])
  })

  test('by a server that leaves out the ends of blocks ends them for the client', () => {
    const [bare, rest] = [first, streamOf([text('More.'), callOf('bash')])].map((events) =>
      events.filter(({ text: event }) => !event.includes('content_block_stop')),
    )
    const stream = dialect.replies.join<StreamEvent>({ toolName: null, continues: true })
    const out = (bare ?? []).flatMap((event) => stream.take(event))
    out.push(...stream.goOn(continuationSeam('', '')))
    out.push(...(rest ?? []).flatMap((event) => stream.take(event)))
    const stops = eventsIn(out).filter(({ type }) => type === 'content_block_stop')
    expect(new Set(stops.map(({ index }) => index))).toEqual(new Set([0, 1, 2]))
    expect(stops.length).toBe(3)
  })
})

describe('plain answers', () => {
  test('the client gets one message: the blocks that it can send back, the first id, the usage of all', () => {
    const iteration = { type: 'message', input_tokens: 10, output_tokens: 1 }
    const asking = messageOf([thought(), text('Let me look.'), callOf('recall')], {
      usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1, iterations: [iteration] },
    })
    const answering = messageOf([thought('So it is.'), text('It is 42.')], {
      id: 'msg_2',
      usage: {
        input_tokens: 20,
        cache_read_input_tokens: 100,
        output_tokens: 2,
        iterations: [iteration, { ...iteration, input_tokens: 20 }],
      },
    })
    const { body, replies, usage } = joinedBodies([asking, answering], continuing)
    expect(body).toEqual(
      messageOf([thought(), text('Let me look.'), text('\n\nIt is 42.')], {
        usage: {
          input_tokens: 30,
          cache_read_input_tokens: 190,
          output_tokens: 3,
          iterations: [iteration, iteration, { ...iteration, input_tokens: 20 }],
        },
      }),
    )
    expect(usage).toMatchObject({ promptTokens: 220, completionTokens: 3, cachedTokens: 190 })
    expect(replies.map((reply) => reply?.text)).toEqual(['Let me look.', '\n\nIt is 42.'])
    expect(replies[1]?.kept['content']).toEqual(answering['content'])
  })
})

describe('a plain message as a stream', () => {
  const content = [
    thought(),
    { type: 'redacted_thinking', data: 'secret' },
    text('Hello', { citations: [{ type: 'char_location', cited_text: 'Hel' }] }),
    ...search(),
    callOf('bash', { command: 'ls "a"' }),
  ]
  const usage = { input_tokens: 3, cache_read_input_tokens: 9, output_tokens: 4, iterations: [] }
  const more = { container: { id: 'c' }, stop_details: null, input_transformations: [] }
  const body = messageOf(content, { usage, more })

  test('a strict client reads the same message from it, and each event has its name', () => {
    const events = eventsOf(body)
    expect(readStrictly(events)).toEqual(body)
    for (const event of events) expect(event).toMatch(/^event: (\w+)\ndata: \{"type":"\1"/)
    expect(asStream(dialect.answers, body)?.statesUsage).toBe(true)
  })

  test('the server’s own compaction is stated by the delta that clients read', () => {
    const compaction = { type: 'compaction', content: 'It began.', encrypted_content: 'x' }
    expect(eventsIn(eventsOf(messageOf([compaction]))).slice(1, 3)).toMatchObject([
      { content_block: { type: 'compaction', content: null } },
      { delta: { type: 'compaction_delta', content: 'It began.', encrypted_content: 'x' } },
    ])
  })
})

describe('a model that goes on', () => {
  test('a model’s own blocks go back as they came, in their order, the answers in one message behind them', () => {
    const content = [
      thought(),
      secret,
      text('I look.'),
      ...search(),
      thought('Hm?'),
      callOf('recall'),
      callOf('recall', {}, 'toolu_2'),
    ]
    expect(parsed(turn(content))).toEqual([
      { role: 'assistant', content },
      { role: 'user', content: [answerTo('toolu_recall'), answerTo('toolu_2')] },
    ])
  })

  // Models write blank texts before a call, and no server takes one back.
  test('but for blank texts', () => {
    expect(parsed(turn([thought(), text('\n\n'), callOf('recall'), text('')]))).toMatchObject([
      { content: [thought(), callOf('recall')] },
      {},
    ])
  })

  // The thoughts were bound to a request to go on, which is not there any more.
  test('and without thoughts behind a reply that was cut before', () => {
    expect(parsed(turn([thought(), text('I look.'), callOf('recall')], 'It began. '))).toEqual([
      { role: 'assistant', content: [text('It began. I look.'), callOf('recall')] },
      { role: 'user', content: [answerTo('toolu_recall')] },
    ])
  })

  test('a call without an id gets one, and one that was cut has arguments', () => {
    const { id: _id, ...bare } = callOf('recall', { search: 'x' })
    expect(parsed(turn([{ ...bare }, { ...bare, input: { se: 1 } }], '', 'max_tokens'))).toEqual([
      {
        role: 'assistant',
        content: [
          { ...bare, id: 'recall002' },
          { ...bare, id: 'recall003', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { ...answerTo(''), tool_use_id: 'recall002' },
          { ...answerTo(''), tool_use_id: 'recall003' },
        ],
      },
    ])
  })

  test('behind another prefix bound thoughts are left out, and what nobody has bound stays', () => {
    const plain = { type: 'thinking', thinking: 'Plainly.', signature: '' }
    const [asked = '', answers = ''] = turn([thought(), secret, plain, text('I look.'), callOf('recall')])
    const [unbound = '', same] = dialect.replies.unbound([asked, answers])
    expect(parsed([unbound])).toEqual([
      { role: 'assistant', content: [plain, text('I look.'), callOf('recall')] },
    ])
    expect(same).toBe(answers)
    const free = [...dialect.replies.goOn('Once', 'Go on.')]
    expect(dialect.replies.unbound(free)).toBe(free)
  })
})
