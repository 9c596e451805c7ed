import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../../../src/json/json-value.ts'
import type { StreamEvent } from '../../../../src/formats/answer-contract.ts'
import { responses as dialect } from '../../../../src/formats/responses/responses.ts'
import { asStream } from '../../../../src/formats/typed-events.ts'
import { withOwnIds } from '../../../../src/formats/turns.ts'
import { continuationSeam } from '../../../../src/pipeline/reply/seams.ts'
import { continuing, eventOf, eventsIn, joiningOf, recalling } from '../../joined.ts'
import {
  callOf,
  endOf,
  message,
  numbered,
  readBySdk,
  responseOf,
  search,
  streamOf,
  textsIn,
  thought,
} from './streamed.ts'

const { joinedBodies, joinedStreams, brokenOff } = joiningOf(dialect.replies)

const eventsOf = (body: unknown): string[] =>
  (asStream(dialect.answers, body)?.text ?? '').split(/(?<=\n\n)/).filter((event) => event !== '')

/** The items by which a model goes on behind these, all of whose calls were answered. */
function turn(items: readonly JsonObject[], more: object = {}, before = ''): unknown[] {
  const reply = dialect.replies.read(responseOf(items, { more })) ?? expect.fail('no reply')
  const answered = reply.calls.map((call) => ({ call, answer: `answer to ${call.id}` }))
  return dialect.replies
    .answeredCalls(before + (reply.text ?? ''), reply, withOwnIds(answered, 2))
    .map((item): unknown => JSON.parse(item))
}

const answerTo = (id: string) => ({ type: 'function_call_output', call_id: id, output: `answer to ${id}` })

const outputOf = (events: readonly (StreamEvent | string)[]) => endOf(events)['output']
const usage = (tokens: number) => ({
  input_tokens: tokens,
  input_tokens_details: { cached_tokens: 1 },
  output_tokens: 2,
  total_tokens: tokens + 2,
})
const done: StreamEvent = { text: 'data: [DONE]\n\n' }

describe('an answer that calls no tool of ours', () => {
  const custom = {
    id: 'ctc_1',
    type: 'custom_tool_call',
    call_id: 'call_7',
    name: 'patch',
    input: '*** Begin',
  }
  const image = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'aGVsbG8=' }
  const silent = eventOf({ type: 'keepalive', sequence_number: 2 })
  const streams: readonly (readonly [string, readonly StreamEvent[]])[] = [
    ['calls with free text', streamOf([thought(), custom])],
    ['a picture', streamOf([image, message('There.')])],
    ['a call without arguments', streamOf([callOf('bash', '')])],
    ['a filter', streamOf([message('Hel')], { reason: 'content_filter' })],
    ['no end', streamOf([thought(), message('Hello')]).slice(0, -3)],
    ['comments', [{ text: ': keep-alive\n\n' }, ...streamOf([message('x')]), { text: ': more\n\n' }]],
    [
      'a sign of life',
      [...streamOf([message('x')]).slice(0, 2), silent, ...streamOf([message('x')]).slice(2)],
    ],
    ['a word behind the end', [...streamOf([message('x')]), done]],
    [
      'no names of events and no numbers',
      eventsIn(streamOf([thought(), message('x'), callOf('bash')])).map(
        ({ sequence_number: _number, ...event }) => ({
          text: `data: ${JSON.stringify(event)}\n\n`,
        }),
      ),
    ],
    [
      'ends that say all and beginnings that say nothing',
      [done, ...streamOf([message('Hello'), callOf('bash')])].filter(({ text }) =>
        /item\.done|completed/.test(text),
      ),
    ],
    ['numbers with gaps', streamOf([message('x')]).filter((_, at) => at % 3 !== 1)],
  ]
  test.each(streams)('passes event by event, as it came: %s', (_, events) => {
    for (const rules of [recalling, continuing, { toolName: null, continues: true }]) {
      const { out } = joinedStreams([events], rules)
      expect(out.length).toBe(events.length)
      for (const [at, event] of out.entries()) expect(event).toBe(events[at])
    }
  })

  test('goes on at once, but for thoughts while they may lead to a call of ours', () => {
    const events = streamOf([thought(), message('Hello')])
    const stream = dialect.replies.join<StreamEvent>(recalling)
    const counts = events.map((event) => stream.take(event).length)
    // Those of the thoughts come with the beginning of the message.
    expect(counts).toEqual([1, 1, 0, 0, 3, ...counts.slice(5).map(() => 1)])
    const free = dialect.replies.join<StreamEvent>({ toolName: null, continues: false })
    expect(events.map((event) => free.take(event).length)).toEqual(events.map(() => 1))
  })

  test('an error is not gone on from, and passes with what waited for it', () => {
    const error = eventOf({ type: 'error', code: 'server_error', message: 'gone', sequence_number: 9 })
    const failed = eventOf({
      type: 'response.failed',
      response: responseOf([], {
        status: 'failed',
        more: { error: { code: 'server_error', message: 'gone' } },
      }),
      sequence_number: 9,
    })
    for (const end of [error, failed, { text: 'data: {"error":{"message":"gone"}}\n\n' }]) {
      const events = [...streamOf([thought()], { more: { output: [thought(), search()] } }).slice(0, 4), end]
      const { out, replies } = joinedStreams([events], continuing)
      expect(out).toEqual(events)
      expect(replies).toEqual([null])
    }
  })
})

describe('a call of our tool', () => {
  const asking = streamOf(
    [thought('rs_1'), message('Let me look.', 'msg_1'), thought('rs_2'), callOf('recall', '{"search":"x"}')],
    { usage: usage(10) },
  )
  const answering = streamOf([thought('rs_3'), message('It is 42.', 'msg_2')], {
    id: 'resp_2',
    usage: usage(20),
  })

  // The server bound them to a call that the client will not send back.
  test('thoughts behind it are hidden, and what they led to has an id that demands none', async () => {
    const output = [callOf('bash'), thought(), callOf('recall'), thought('rs_2'), callOf('read')]
    const { out } = joinedStreams([streamOf(output)], recalling)
    expect(outputOf(out)).toEqual([callOf('bash'), { ...callOf('read'), id: 'fc_1_1' }])
    await readBySdk(out)
  })

  test('of the client’s with the beginning of its name is the client’s', () => {
    const events = streamOf([
      callOf('recall_mail'),
      { ...callOf('x'), type: 'custom_tool_call', name: 'recall' },
    ])
    expect(joinedStreams([events], recalling).out).toEqual(events)
  })

  test('a sign of life does not wait for the thoughts that came before it', () => {
    const [created, begun, added, ...rest] = asking
    const sign = eventOf({ type: 'keepalive', sequence_number: 3 })
    const stream = dialect.replies.join<StreamEvent>(recalling)
    for (const event of [created, begun, added]) if (event !== undefined) stream.take(event)
    const [shown] = eventsIn(stream.take(sign))
    expect(shown).toEqual({ type: 'keepalive', sequence_number: 2 })
    const [next] = eventsIn(rest.slice(0, 2).flatMap((event) => stream.take(event)))
    expect(next).toMatchObject({ type: 'response.output_item.added', item: thought(), sequence_number: 3 })
  })

  test('an item that is only there when it is whole is written like any other', async () => {
    const lone = answering.filter(({ text }) => /item\.done|completed/.test(text))
    const { out } = joinedStreams([asking, lone], recalling)
    expect(textsIn(out)).toEqual({ msg_1: 'Let me look.', msg_1_1: '\n\nIt is 42.' })
    await readBySdk(out)
  })

  test('a response that another went on from keeps its id if that failed', () => {
    const error = { code: 'server_error', message: 'gone' }
    const response = responseOf([], { id: 'resp_2', status: 'failed', more: { error } })
    const failing = numbered([{ type: 'response.failed', response }])
    const { out, replies } = joinedStreams([asking, failing], recalling)
    expect(endOf(out)).toMatchObject({ id: 'resp_1', status: 'failed', error, usage: usage(10) })
    expect(replies[1]).toBeNull()
  })

  test('streams without names and numbers get none', () => {
    const bare = [asking, answering].map((events) =>
      eventsIn(events).map(({ sequence_number: _number, ...event }) => ({
        text: `data: ${JSON.stringify(event)}\n\n`,
      })),
    )
    const { out } = joinedStreams(
      bare.map((events) => [...events, done]),
      recalling,
    )
    expect(out.filter((event) => /sequence_number|event:/.test(textOf(event)))).toEqual([])
    expect(out.filter((event) => textOf(event) === done.text)).toEqual([done])
    expect(textsIn(out)).toEqual({ msg_1: 'Let me look.', msg_1_1: '\n\nIt is 42.' })
  })
})

/**
 * In llama.cpp's first months with this API its calls had no id and no place: the events that write one name it by its
 * `call_id`. They were taken for events about nothing: the client got the arguments of a call that it never saw begin,
 * and the call counted twice.
 */
describe('calls that have only their call_id', () => {
  test('are one each, and of ours the client sees nothing', () => {
    const asking = streamOfCall('recall', 'fc_1', 'resp_1')
    const { out, replies } = joinedStreams([asking, streamOf([message('Yes.')])], recalling)
    expect(replies[0]?.calls).toMatchObject([{ id: 'fc_1', name: 'recall', argumentsText: '{"a":1}' }])
    expect(JSON.stringify(eventsIn(out))).not.toMatch(/recall|fc_1|arguments/)
  })

  test('of the client’s pass as they came, when they are complete', () => {
    const events = streamOfCall('read', 'fc_1', 'resp_1')
    const stream = dialect.replies.join<StreamEvent>(continuing)
    expect(events.map((event) => stream.take(event).length)).toEqual([1, 0, 0, 0, 4, 1])
    expect(joinedStreams([events], continuing).out).toEqual(events)
  })

  test('are named by one id in every event of a further answer', () => {
    const asking = streamOfCall('recall', 'fc_1', 'resp_1')
    const { out } = joinedStreams([asking, streamOfCall('read', 'fc_2', 'resp_2')], recalling)
    const ids = eventsIn(out).flatMap(({ item, item_id: id }) =>
      isJsonObject(item) ? item['id'] : (id ?? []),
    )
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(1)
    expect(outputOf(out)).toMatchObject([{ call_id: 'fc_2', name: 'read', id: ids[0] }])
  })

  test('keep the name that their events know them by where one before them is hidden', () => {
    const [created, ...ours] = streamOfCall('recall', 'fc_1', 'resp_1')
    const theirs = streamOfCall('read', 'fc_2', 'resp_1')
    const events = [created, ...ours.slice(0, -1), ...theirs.slice(1)].flatMap((event) => event ?? [])
    const { out } = joinedStreams([events], recalling)
    expect(eventsIn(out).flatMap(({ item_id: id }) => id ?? [])).toEqual(['fc_2', 'fc_2'])
  })
})

describe('a reply that was cut', () => {
  const cut = { reason: 'max_output_tokens' }
  const told = 'It was a dark and stormy night, and the rain fell in torrents, except at'
  const first = streamOf([thought(), message(told)], { ...cut, usage: usage(10) })

  test('states for its text what the servers said of all of it', () => {
    const answers = ['a', 'b', 'c'].map((text, at) =>
      streamOf([message('', `msg_${at}`, { content: [part(text)] })], at < 2 ? cut : {}),
    )
    const stream = dialect.replies.join<StreamEvent>(continuing)
    const out = answers.flatMap((events, at) => {
      const late = at > 0 ? stream.goOn(continuationSeam('', '')) : []
      return [...late, ...events.flatMap((event) => stream.take(event)), ...stream.ended().shown]
    })
    const [, , whole] = ['a', 'b', 'c'].map(part)
    const all = (key: 'annotations' | 'logprobs') =>
      ['a', 'b', 'c'].flatMap((text): object[] => part(text)[key])
    const content = [{ ...whole, text: 'abc', annotations: all('annotations'), logprobs: all('logprobs') }]
    expect(outputOf(out)).toMatchObject([{ id: 'msg_0', content }])
  })

  test('goes on behind what is no text in a message of its own', async () => {
    const searched = streamOf([message(told), search()], cut)
    const { out } = joinedStreams([searched, streamOf([message('More.', 'msg_2')])], continuing)
    expect(outputOf(out)).toEqual([message(told), search(), message('More.', 'msg_1_1')])
    await readBySdk(out)
  })

  test('a refusal follows the text in the same message', async () => {
    const refusal = { type: 'refusal', refusal: 'No more.' }
    const rest = streamOf([message('', 'msg_2', { content: [refusal] })])
    const { out } = joinedStreams([first, rest], continuing)
    expect(outputOf(out)).toMatchObject([thought(), { id: 'msg_1', content: [{ text: told }, refusal] }])
    await readBySdk(out)
  })

  test('a call is held until it is complete', () => {
    const events = streamOf([callOf('write', '{"a":1}'), callOf('read')])
    const stream = dialect.replies.join<StreamEvent>(continuing)
    const shown = events.map((event) => stream.take(event).length)
    const isWhole = events.findIndex(({ text }) => text.includes('response.output_item.done'))
    expect(shown.slice(2, isWhole)).toEqual(shown.slice(2, isWhole).map(() => 0))
    expect(shown[isWhole]).toBe(isWhole - 1)
  })

  // vLLM ends every stream so, and says only in the response that it was cut.
  test('is one whatever the name of its last event', () => {
    const named = eventsIn(first).map((event) =>
      event['type'] === 'response.incomplete' ? { ...event, type: 'response.completed' } : event,
    )
    const { replies } = joinedStreams([numbered(named)], continuing)
    expect(replies[0]?.finish).toBe('length')
  })

  test('text that only the end of a message states is not lost', async () => {
    const { out } = joinedStreams(
      [first.filter((event) => !isDelta(event)), streamOf([message('intervals.', 'msg_2')])],
      continuing,
    )
    expect(outputOf(out)).toMatchObject([{}, { content: [{ text: `${told}intervals.` }] }])
    expect(textsIn(out)).toEqual({ msg_1: `${told}intervals.` })
    const rest = streamOf([message(' intervals.', 'msg_2')]).filter((event) => !isDelta(event))
    const late = joinedStreams([first, rest], continuing).out
    expect(textsIn(late)).toEqual({ msg_1: `${told} intervals.` })
    await readBySdk(late)
  })
})

describe('a further answer that breaks off', () => {
  const first = streamOf([message('The whole ')], { reason: 'max_output_tokens', usage: usage(10) })

  const rest = streamOf([thought('rs_2'), message('story', 'msg_2'), callOf('bash', '{"a":1}')], {
    id: 'resp_2',
  })
  test('stands as one that was cut, with the usage of what came whole', () => {
    const { out, end } = brokenOff([first, rest.slice(0, 8)], continuing)
    expect(endOf([...out, ...end])).toMatchObject({ id: 'resp_1', status: 'incomplete', usage: usage(10) })
  })

  test('and as one that is over if its end was there', () => {
    expect(brokenOff([first, rest], continuing).end).toEqual([])
    expect(
      brokenOff(
        [
          [...first, done],
          [...rest, done],
        ],
        continuing,
      ).end,
    ).toEqual([])
    expect(brokenOff([[...first, done], rest], continuing).end).toEqual([done.text])
  })
})

describe('plain answers', () => {
  test('what a server states as the text of all of it is stated of both answers', () => {
    const asking = responseOf([message('Let me look.'), callOf('recall')])
    const answering = responseOf([message('It is 42.', 'msg_2')], { more: { output_text: 'It is 42.' } })
    const { body } = joinedBodies([asking, answering], continuing)
    expect(body).toMatchObject({ output_text: 'Let me look.\n\nIt is 42.' })
  })

  test('a content that is a text goes on as a part', () => {
    const told = 'It was a dark and stormy night, and the rain fell in torrents, except at'
    const cut = { reason: 'max_output_tokens' }
    const first = responseOf([message('', 'msg_1', { content: told })], cut)
    const rest = responseOf([message('', 'msg_2', { content: `${told} intervals.` })])
    expect(joinedBodies([first, rest], continuing).body).toMatchObject({
      output: [{ content: [{ type: 'output_text', text: `${told} intervals.` }] }],
    })
  })
})

describe('a plain response as a stream', () => {
  const refusal = message('', 'msg_2', { content: [{ type: 'refusal', refusal: 'No.' }] })
  const patch = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_9', name: 'patch', input: '***' }
  const output = [thought(), message('Hello'), search(), callOf('bash', '{"a":1}'), patch, refusal]
  const body = responseOf(output, { usage: { input_tokens: 3, output_tokens: 4 } })

  test('OpenAI’s own library reads the same response from it, and its events have names, and numbers from 0 on', async () => {
    const events = eventsOf(body)
    expect(await readBySdk(events)).toMatchObject(body)
    for (const event of events) expect(event).toMatch(/^event: (\S+)\ndata: \{"type":"\1"/)
    expect(eventsIn(events).map((event) => event['sequence_number'])).toEqual(events.map((_, at) => at))
    expect(textsIn(events)).toEqual({ msg_1: 'Hello' })
    expect(asStream(dialect.answers, body)?.statesUsage).toBe(true)
  })

  test('one that was cut ends so', () => {
    const cut = responseOf([message('Hel')], { reason: 'max_output_tokens' })
    expect(eventsIn(eventsOf(cut)).at(-1)).toMatchObject({ type: 'response.incomplete', response: cut })
  })
})

describe('a model that goes on', () => {
  test('a model’s own items go back as they came, in their order, the answers behind them', () => {
    const items = [
      thought(),
      message('I look.'),
      callOf('recall'),
      thought('rs_2'),
      callOf('recall', '{}', 'fc_2'),
    ]
    expect(turn(items)).toEqual([...items, answerTo('call_fc_recall'), answerTo('call_fc_2')])
  })

  // The thoughts were bound to a request to go on, which is not there any more.
  test('but without thoughts and ids behind a reply that was cut before', () => {
    const { id: _id, ...call } = callOf('recall')
    const said = { type: 'message', role: 'assistant', content: 'It began. I look.' }
    expect(turn([thought(), message('I look.'), callOf('recall')], {}, 'It began. ')).toEqual([
      said,
      call,
      answerTo('call_fc_recall'),
    ])
  })

  test('thoughts of which there is only an id go back to a server that keeps them', () => {
    const items = [thought('rs_1', ''), callOf('recall')]
    const { id: _id, ...call } = callOf('recall')
    expect(turn(items, { store: true })).toEqual([...items, answerTo('call_fc_recall')])
    expect(turn(items, { store: false })).toEqual([call, answerTo('call_fc_recall')])
    const open = [
      { ...thought('rs_1', ''), content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      callOf('recall'),
    ]
    expect(turn(open)).toEqual([...open, answerTo('call_fc_recall')])
  })

  test('a call without an id gets one, and one that was cut has arguments', () => {
    const { call_id: _call, id: _id, ...bare } = callOf('recall', '{"se')
    expect(turn([bare, bare].map((each) => ({ ...each })))).toEqual([
      { ...bare, call_id: 'recall002', arguments: '{}' },
      { ...bare, call_id: 'recall003', arguments: '{}' },
      { ...answerTo(''), call_id: 'recall002' },
      { ...answerTo(''), call_id: 'recall003' },
    ])
  })
})

/** What such a llama.cpp sends where its model makes one call. */
function streamOfCall(name: string, callId: string, id: string): readonly StreamEvent[] {
  const call = { type: 'function_call', status: 'in_progress', call_id: callId, name, arguments: '' }
  const whole = { ...call, status: 'completed', arguments: '{"a":1}' }
  return [
    { type: 'response.created', response: { id, object: 'response', status: 'in_progress' } },
    { type: 'response.output_item.added', item: call },
    { type: 'response.function_call_arguments.delta', delta: '{"a"', item_id: callId },
    { type: 'response.function_call_arguments.delta', delta: ':1}', item_id: callId },
    { type: 'response.output_item.done', item: whole },
    { type: 'response.completed', response: responseOf([whole], { id }) },
  ].map(eventOf)
}

const textOf = (event: StreamEvent | string): string => (typeof event === 'string' ? event : event.text)

/** A part of a message with what a server says of its text. */
function part(text: string) {
  const annotations = [{ type: 'url_citation', url: text }]
  return { type: 'output_text', text, annotations, logprobs: [{ token: text }] }
}

const isDelta = ({ text }: StreamEvent): boolean => text.includes('.delta')
