import {
  before,
  json,
  listOf,
  MEGABYTE,
  PROSE,
  times,
  type Attack,
  type AttackPath,
  type HostileAnswer,
  type Json,
} from '../attack.ts'
import { call, said, thought } from './items.ts'

// What answers are made of comes before the lists, which are made of it as this module is loaded.

/** In pieces of the size in which a socket gives them. */
function* eventsOf(bytes: number, eventAt: (index: number) => string): Generator<Buffer> {
  let piece = ''
  let sent = 0
  for (let index = 0; sent < bytes; index += 1) {
    piece += eventAt(index)
    if (piece.length < 65_536) continue
    sent += piece.length
    yield Buffer.from(piece)
    piece = ''
    if (index === 0) return
  }
  yield Buffer.from(piece)
}

const raw = (bytes: Json): HostileAnswer => ({
  type: 'text/event-stream',
  pieces: [Buffer.from(bytes)],
})

const plainText = (text: string): HostileAnswer => ({ type: 'application/json', pieces: [Buffer.from(text)] })

/** What the answer to a small request is, and the answer to one that is joined: more is read of it than what it cost. */
type Answered = (
  name: string,
  answer: (bytes: number) => HostileAnswer,
  joined?: Pick<Attack, 'isQuick' | 'isExact'>,
  bytes?: number,
) => readonly Attack[]

function answeredIn(prefix: string, path: AttackPath, ...members: readonly string[]): Answered {
  const chat = () => before(...members)
  return (name, answer, joined = {}, bytes = 30 * MEGABYTE) => {
    const alone: Attack = {
      name: `${prefix}answered with ${name}`,
      room: 'sidecar',
      path,
      bytes,
      chat,
      answer,
    }
    return [alone, { ...alone, name: `${alone.name}, joined`, profile: 'joining', ...joined }]
  }
}

const list = (item: string, bytes: number): string => listOf(item, bytes).toString()

const inResponses = answeredIn(
  '',
  'responses',
  '"store":false',
  '"stream":true',
  '"tools":[{"type":"function","name":"f","parameters":{}}]',
)

/** A stream of events, one of which may come first. */
const streamed = (
  name: string,
  eventAt: (index: number) => string,
  joined?: Pick<Attack, 'isQuick' | 'isExact'>,
): readonly Attack[] =>
  inResponses(name, (bytes) => ({ type: 'text/event-stream', pieces: eventsOf(bytes, eventAt) }), joined)

/** The same of a stream whose first event begins the one message. */
const inMessage = (
  name: string,
  eventAt: (index: number) => string,
  joined?: Pick<Attack, 'isQuick' | 'isExact'>,
): readonly Attack[] =>
  streamed(name, (index) => (index === 0 ? added(0, BEGUN_MESSAGE) : eventAt(index)), joined)

const BEGUN_MESSAGE = '{"type":"message","id":"m","role":"assistant","status":"in_progress","content":[]}'
const PLACE = '"item_id":"m","output_index":0'

const event = (type: string, number: number, members: string): string =>
  `event: response.${type}\ndata: {"type":"response.${type}","sequence_number":${number},${members}}\n\n`

const added = (index: number, item: string): string =>
  event('output_item.added', index, `"output_index":${index},"item":${item}`)

/** One event, of megabytes. */
const ended = (members: string): HostileAnswer =>
  raw(
    event(
      'completed',
      0,
      `"response":{"id":"resp_1","object":"response","status":"completed","output":[],${members}}`,
    ),
  )

const plain = (members: string): HostileAnswer =>
  plainText(
    `{"id":"resp_1","object":"response","status":"completed",${members},"usage":{"input_tokens":1,"output_tokens":1}}`,
  )

/**
 * Answers of a hostile upstream, or of a model that was talked into one: streams that do not end, events by the hundred
 * thousand that begin something and end nothing, events and answers of megabytes. `joining` is the profile under which replies
 * are read for more than what they cost.
 */
export const answers: readonly Attack[] = [
  ...streamed('a stream of items that are begun', (index) =>
    added(index, `{"type":"message","id":"m_${index}","role":"assistant","content":[]}`),
  ),
  ...streamed('a stream of whole items', (index) =>
    event('output_item.done', index, `"output_index":${index},"item":${said(index)}`),
  ),
  ...streamed('a stream of calls that are begun', (index) => added(index, call(index))),
  ...streamed('a stream of thoughts', (index) => added(index, thought(index).toString())),
  ...inMessage(
    'a stream of parts',
    (index) =>
      event(
        'content_part.added',
        index,
        `${PLACE},"content_index":${index - 1},"part":{"type":"output_text","text":"a"}`,
      ),
    { isQuick: true },
  ),
  ...inMessage('a stream of deltas', (index) =>
    event('output_text.delta', index, `${PLACE},"content_index":0,"delta":"word "`),
  ),
  ...inMessage('a stream of ends of one long text', (index) => {
    const part = `{"type":"output_text","text":"${index === 1 ? PROSE.repeat(30_000) : 'a'}"}`
    const at = Math.min(1, index - 1)
    return event('content_part.done', index, `${PLACE},"content_index":${at},"part":${part}`)
  }),
  ...inMessage('a stream of the same end', (index) =>
    event('output_text.done', index, `${PLACE},"content_index":0,"text":""`),
  ),
  ...streamed('a stream of thoughts that are written', (index) =>
    index === 0
      ? added(0, '{"type":"reasoning","id":"rs","summary":[]}')
      : event(
          'reasoning_summary_text.delta',
          index,
          '"item_id":"rs","output_index":0,"summary_index":0,"delta":"so "',
        ),
  ),
  ...streamed('a stream of events about nothing', (index) =>
    event('telepathy', -index, '"output_index":1e9,"item_id":"nobody"'),
  ),
  ...streamed('a stream that begins and begins', (index) =>
    event('created', index, '"response":{"id":"resp_1","status":"in_progress","output":[]}'),
  ),
  ...inResponses('a stream of line ends', (bytes) => raw(times('\n', bytes)), {}, 8 * MEGABYTE),
  ...inResponses('a stream of empty events', (bytes) => raw(times('data: {}\n\n', bytes)), {}, 8 * MEGABYTE),
  ...inResponses(
    'an event with very many transformations',
    (bytes) => ended(`"input_transformations":${list('{}', bytes)}`),
    { isQuick: true, isExact: true },
    3.9 * MEGABYTE,
  ),
  ...inResponses(
    'a longer event with very many transformations',
    (bytes) => ended(`"input_transformations":${list('{}', bytes)}`),
    {},
    7.9 * MEGABYTE,
  ),
  ...inResponses(
    'an event of very many items',
    (bytes) => ended(`"output":${list(said(0), bytes)}`),
    {},
    3.9 * MEGABYTE,
  ),
  ...inResponses(
    'an event that is deep',
    (bytes) => ended(`"metadata":${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`),
    {},
    3.9 * MEGABYTE,
  ),
  ...inResponses('an event without an end', (bytes) =>
    raw(json`data: {"type":"response.output_text.delta","delta":"${times('a', bytes)}`),
  ),
  ...inResponses(
    'an answer of very many items',
    (bytes) => plain(`"output":${list('{}', bytes)}`),
    {},
    8 * MEGABYTE,
  ),
  ...inResponses('a long answer of very many items', (bytes) => plain(`"output":${list(said(0), bytes)}`)),
  ...inResponses(
    'an answer with a long text',
    (bytes) => plain(`"output":[${said(0, PROSE.repeat(bytes / PROSE.length))}]`),
    {},
    8 * MEGABYTE,
  ),
  ...inResponses(
    'an answer with very many transformations',
    (bytes) => plain(`"output":[${said(0)}],"input_transformations":${list('{}', bytes)}`),
    {},
    8 * MEGABYTE,
  ),
]

const inMessages = answeredIn(
  'messages: ',
  'messages',
  '"max_tokens":1000',
  '"stream":true',
  '"tools":[{"name":"f","input_schema":{"type":"object"}}]',
)

const streaming = (
  name: string,
  eventAt: (index: number) => string,
  joined?: Pick<Attack, 'isQuick' | 'isExact'>,
): readonly Attack[] =>
  inMessages(name, (bytes) => ({ type: 'text/event-stream', pieces: eventsOf(bytes, eventAt) }), joined)

/** A stream whose first event begins this block. */
const inBlock = (
  name: string,
  block: string,
  eventAt: (index: number) => string,
  joined?: Pick<Attack, 'isQuick' | 'isExact'>,
): readonly Attack[] => streaming(name, (index) => (index === 0 ? begun(0, block) : eventAt(index)), joined)

const sent = (type: string, members: string): string =>
  `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`

const begun = (index: number, block: string): string =>
  sent('content_block_start', `"index":${index},"content_block":${block}`)

const delta = (type: string, members: string): string =>
  sent('content_block_delta', `"index":0,"delta":{"type":"${type}",${members}}`)

const started = (members: string): string =>
  sent(
    'message_start',
    `"message":{"id":"msg_1","type":"message","content":[],"usage":{"input_tokens":1}${members}}`,
  )

const using = (id: string, name: string, input: string): string =>
  `{"type":"tool_use","id":"${id}","name":"${name}","input":${input}}`

const recalling = (index: number): string => using(`t${index}`, 'recall_conversation', '{"search":"x"}')

const content = (blocks: string): HostileAnswer =>
  plainText(
    `{"id":"msg_1","type":"message","role":"assistant","content":${blocks},"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
  )

const EMPTY_TEXT = '{"type":"text","text":""}'

/** The same of the Messages API: streams that begin blocks and end none, state ever new things, or do not end. */
export const messageAnswers: readonly Attack[] = [
  ...streaming('a stream of blocks that are begun', (index) => begun(index, EMPTY_TEXT)),
  ...streaming('a stream of blocks at one place', () =>
    begun(0, '{"type":"thinking","thinking":"","signature":""}'),
  ),
  ...streaming('a stream of calls that are begun', (index) => begun(index, using(`t${index}`, 'f', '{}'))),
  ...streaming('a stream of calls of our tool', (index) => begun(index, recalling(index))),
  ...inBlock(
    'a stream of arguments of our tool',
    recalling(0),
    () => delta('input_json_delta', '"partial_json":"[{"'),
    { isQuick: true },
  ),
  ...inBlock('a stream of arguments', using('t', 'f', '{}'), () =>
    delta('input_json_delta', '"partial_json":"[{"'),
  ),
  ...inBlock('a stream of a text', EMPTY_TEXT, () => delta('text_delta', '"text":"word "')),
  ...inBlock('a stream of citations', EMPTY_TEXT, () => delta('citations_delta', '"citation":{}')),
  ...inBlock('a stream of signatures', '{"type":"thinking","thinking":""}', (index) =>
    delta('signature_delta', `"signature":"E","k${index}":1`),
  ),
  ...streaming('a stream of counts of ever new things', (index) =>
    sent('message_delta', `"delta":{},"usage":{"output_tokens":${index},"k${index}":1}`),
  ),
  ...inBlock('a stream of ends', recalling(0), () =>
    sent('message_delta', '"delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":1}'),
  ),
  ...streaming('a stream of beginnings', () => started('')),
  ...streaming('a stream of signs of life', () => sent('ping', '"x":1')),
  ...streaming('a stream of events about nothing', (index) =>
    sent('content_block_stop', `"index":${index}e9`),
  ),
  ...inMessages(
    'an event with very many transformations',
    () => raw(started(`,"input_transformations":${list('{}', 3.9 * MEGABYTE)}`)),
    { isExact: true },
  ),
  ...inMessages(
    'an event of very many counts',
    () => raw(sent('message_delta', `"delta":{},"usage":{"iterations":${list('{}', 3.9 * MEGABYTE)}}`)),
    { isExact: true },
  ),
  ...inMessages('an event without an end', (bytes) =>
    raw(json`data: {"type":"content_block_delta","delta":{"text":"${times('a', bytes)}`),
  ),
  ...inMessages('an answer of very many blocks', (bytes) => content(list('{}', bytes / 4))),
  ...inMessages('an answer of very many texts', (bytes) =>
    content(list('{"type":"text","text":"a"}', bytes)),
  ),
  ...inMessages('an answer of very many calls of our tool', () => content(list(recalling(1), 2 * MEGABYTE))),
  ...inMessages('an answer with a long text', (bytes) =>
    content(`[{"type":"text","text":"${PROSE.repeat(bytes / 4 / PROSE.length)}"}]`),
  ),
]
