import {
  attackIn,
  before,
  json,
  listOf,
  moreAndLast,
  PROSE,
  times,
  type Attack,
  type AttackPath,
  type Given,
  type HostileAnswer,
  type Json,
} from '../attack.ts'
import { call, said, thought } from './items.ts'

// What answers are made of comes before the lists, which are made of it as this module is loaded.

/** In pieces of the size in which a socket gives them. */
function* eventsOf(bytes: number, eventAt: EventAt): Generator<Buffer> {
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

type EventAt = (index: number) => string

const raw = (bytes: Json): HostileAnswer => ({ type: 'text/event-stream', pieces: [Buffer.from(bytes)] })

const plainText = (text: string): HostileAnswer => ({ type: 'application/json', pieces: [Buffer.from(text)] })

/**
 * What the answer to a small request is, and the answer to one that is joined, of which more is read than what it cost:
 * what is said beside holds for that one only.
 */
function answeredIn(prefix: string, path: AttackPath, ...members: readonly string[]) {
  const { attack } = attackIn(`${prefix}answered with `, { path })
  function answered(name: string, bytes: number, ...given: Given<(bytes: number) => HostileAnswer>) {
    const [joined, answer] = moreAndLast(given)
    const both = (ending: string, more: Partial<Attack>) =>
      attack(`${name}${ending}`, bytes, { answer, ...more }, () => before(...members))
    return [both('', {}), both(', joined', { profile: 'joining', ...joined })]
  }
  function streamed(name: string, ...given: Given<EventAt>) {
    const [joined, eventAt] = moreAndLast(given)
    return answered(name, 30e6, joined, (bytes) => ({
      type: 'text/event-stream',
      pieces: eventsOf(bytes, eventAt),
    }))
  }
  return { answered, streamed }
}

/** Behind a first event. */
const behind =
  (first: string, eventAt: EventAt): EventAt =>
  (index) =>
    index === 0 ? first : eventAt(index)

const list = (item: string, bytes: number): string => listOf(item, bytes).toString()

const inResponses = answeredIn(
  '',
  'responses',
  '"store":false',
  '"stream":true',
  '"tools":[{"type":"function","name":"f","parameters":{}}]',
)

const event = (type: string, number: number, members: string): string =>
  `event: response.${type}\ndata: {"type":"response.${type}","sequence_number":${number},${members}}\n\n`

const added = (index: number, item: string): string =>
  event('output_item.added', index, `"output_index":${index},"item":${item}`)

/** A stream whose first event begins the one message; of each other event: its type, and what it says beside its place. */
const inMessage = (name: string, type: string, ...given: Given<EventAt>): readonly Attack[] => {
  const [joined, members] = moreAndLast(given)
  const eventAt: EventAt = (index) =>
    event(type, index, `"item_id":"m","output_index":0,"content_index":${members(index)}`)
  return inResponses.streamed(name, joined, behind(added(0, BEGUN_MESSAGE), eventAt))
}

const BEGUN_MESSAGE = '{"type":"message","id":"m","role":"assistant","status":"in_progress","content":[]}'
const LONG_TEXT = PROSE.repeat(30_000)
const COMPLETED = '"id":"resp_1","object":"response","status":"completed"'

/** One event, of megabytes. */
const ended = (members: string): HostileAnswer =>
  raw(event('completed', 0, `"response":{${COMPLETED},"output":[],${members}}`))

const plain = (members: string): HostileAnswer =>
  plainText(`{${COMPLETED},${members},"usage":{"input_tokens":1,"output_tokens":1}}`)

/**
 * Answers of a hostile upstream, or of a model that was talked into one: streams that do not end, events by the hundred
 * thousand that begin something and end nothing, events and answers of megabytes. `joining` is the profile under which replies
 * are read for more than what they cost.
 */
export const answers: readonly Attack[] = [
  inResponses.streamed('a stream of items that are begun', (index) =>
    added(index, `{"type":"message","id":"m_${index}","role":"assistant","content":[]}`),
  ),
  inResponses.streamed('a stream of whole items', (index) =>
    event('output_item.done', index, `"output_index":${index},"item":${said(index)}`),
  ),
  inResponses.streamed('a stream of calls that are begun', (index) => added(index, call(index))),
  inResponses.streamed('a stream of thoughts', (index) => added(index, thought(index).toString())),
  inMessage(
    'a stream of parts',
    'content_part.added',
    { isQuick: true },
    (index) => `${index - 1},"part":{"type":"output_text","text":"a"}`,
  ),
  inMessage('a stream of deltas', 'output_text.delta', () => '0,"delta":"word "'),
  inMessage('a stream of ends of one long text', 'content_part.done', (index) => {
    const part = `{"type":"output_text","text":"${index === 1 ? LONG_TEXT : 'a'}"}`
    return `${Math.min(1, index - 1)},"part":${part}`
  }),
  inMessage('a stream of the same end', 'output_text.done', () => '0,"text":""'),
  inResponses.streamed(
    'a stream of thoughts that are written',
    behind(added(0, '{"type":"reasoning","id":"rs","summary":[]}'), (index) => {
      const place = '"item_id":"rs","output_index":0,"summary_index":0'
      return event('reasoning_summary_text.delta', index, `${place},"delta":"so "`)
    }),
  ),
  inResponses.streamed('a stream of events about nothing', (index) =>
    event('telepathy', -index, '"output_index":1e9,"item_id":"nobody"'),
  ),
  inResponses.streamed('a stream that begins and begins', (index) =>
    event('created', index, '"response":{"id":"resp_1","status":"in_progress","output":[]}'),
  ),
  inResponses.answered('a stream of line ends', 8e6, (bytes) => raw(times('\n', bytes))),
  inResponses.answered('a stream of empty events', 8e6, (bytes) => raw(times('data: {}\n\n', bytes))),
  inResponses.answered(
    'an event with very many transformations',
    3.9e6,
    { isQuick: true, isExact: true },
    (bytes) => ended(`"input_transformations":${list('{}', bytes)}`),
  ),
  inResponses.answered('a longer event with very many transformations', 7.9e6, (bytes) =>
    ended(`"input_transformations":${list('{}', bytes)}`),
  ),
  inResponses.answered('an event of very many items', 3.9e6, (bytes) =>
    ended(`"output":${list(said(0), bytes)}`),
  ),
  inResponses.answered('an event that is deep', 3.9e6, (bytes) =>
    ended(`"metadata":${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`),
  ),
  inResponses.answered('an event without an end', 30e6, (bytes) =>
    raw(json`data: {"type":"response.output_text.delta","delta":"${times('a', bytes)}`),
  ),
  inResponses.answered('an answer of very many items', 8e6, (bytes) =>
    plain(`"output":${list('{}', bytes)}`),
  ),
  inResponses.answered('a long answer of very many items', 30e6, (bytes) =>
    plain(`"output":${list(said(0), bytes)}`),
  ),
  inResponses.answered('an answer with a long text', 8e6, (bytes) =>
    plain(`"output":[${said(0, PROSE.repeat(bytes / PROSE.length))}]`),
  ),
  inResponses.answered('an answer with very many transformations', 8e6, (bytes) =>
    plain(`"output":[${said(0)}],"input_transformations":${list('{}', bytes)}`),
  ),
].flat()

const { answered, streamed } = answeredIn(
  'messages: ',
  'messages',
  '"max_tokens":1000',
  '"stream":true',
  '"tools":[{"name":"f","input_schema":{"type":"object"}}]',
)

/** A stream whose first event begins this block. */
const inBlock = (name: string, block: string, ...given: Given<EventAt>): readonly Attack[] => {
  const [joined, eventAt] = moreAndLast(given)
  return streamed(name, joined, behind(begun(0, block), eventAt))
}

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
const NO_THOUGHT = '{"type":"thinking","thinking":"","signature":""}'
const exact = { isExact: true }

/** The same of the Messages API: streams that begin blocks and end none, state ever new things, or do not end. */
export const messageAnswers: readonly Attack[] = [
  streamed('a stream of blocks that are begun', (index) => begun(index, EMPTY_TEXT)),
  streamed('a stream of blocks at one place', () => begun(0, NO_THOUGHT)),
  streamed('a stream of calls that are begun', (index) => begun(index, using(`t${index}`, 'f', '{}'))),
  streamed('a stream of calls of our tool', (index) => begun(index, recalling(index))),
  inBlock('a stream of arguments of our tool', recalling(0), { isQuick: true }, () =>
    delta('input_json_delta', '"partial_json":"[{"'),
  ),
  inBlock('a stream of arguments', using('t', 'f', '{}'), () =>
    delta('input_json_delta', '"partial_json":"[{"'),
  ),
  inBlock('a stream of a text', EMPTY_TEXT, () => delta('text_delta', '"text":"word "')),
  inBlock('a stream of citations', EMPTY_TEXT, () => delta('citations_delta', '"citation":{}')),
  inBlock('a stream of signatures', '{"type":"thinking","thinking":""}', (index) =>
    delta('signature_delta', `"signature":"E","k${index}":1`),
  ),
  streamed('a stream of counts of ever new things', (index) =>
    sent('message_delta', `"delta":{},"usage":{"output_tokens":${index},"k${index}":1}`),
  ),
  inBlock('a stream of ends', recalling(0), () =>
    sent('message_delta', '"delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":1}'),
  ),
  streamed('a stream of beginnings', () => started('')),
  streamed('a stream of signs of life', () => sent('ping', '"x":1')),
  streamed('a stream of events about nothing', (index) => sent('content_block_stop', `"index":${index}e9`)),
  answered('an event with very many transformations', 30e6, exact, () =>
    raw(started(`,"input_transformations":${list('{}', 3.9e6)}`)),
  ),
  answered('an event of very many counts', 30e6, exact, () =>
    raw(sent('message_delta', `"delta":{},"usage":{"iterations":${list('{}', 3.9e6)}}`)),
  ),
  answered('an event without an end', 30e6, (bytes) =>
    raw(json`data: {"type":"content_block_delta","delta":{"text":"${times('a', bytes)}`),
  ),
  answered('an answer of very many blocks', 30e6, (bytes) => content(list('{}', bytes / 4))),
  answered('an answer of very many texts', 30e6, (bytes) =>
    content(list('{"type":"text","text":"a"}', bytes)),
  ),
  answered('an answer of very many calls of our tool', 30e6, () => content(list(recalling(1), 2e6))),
  answered('an answer with a long text', 30e6, (bytes) =>
    content(`[{"type":"text","text":"${PROSE.repeat(bytes / 4 / PROSE.length)}"}]`),
  ),
].flat()

const inChat = answeredIn(
  'chat: ',
  'chat/completions',
  '"stream":true',
  '"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]',
)

const chunk = (members: string): string =>
  `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{${members}},"finish_reason":null}]}\n\n`

const calling = (index: number, id: string, name: string, given: string): string =>
  chunk(
    `"tool_calls":[{"index":${index},"id":"${id}","type":"function","function":{"name":"${name}","arguments":${JSON.stringify(given)}}}]`,
  )

/** The same of chat completions. A stream of 30,000 calls took 28 s where replies are joined: each delta went through all calls. */
export const chatAnswers: readonly Attack[] = [
  inChat.streamed('a stream of calls that are begun', (index) => calling(index, `t${index}`, 'f', '{}')),
  inChat.streamed('a stream of calls that nobody names', (index) => calling(index, `t${index}`, '', '')),
  inChat.streamed('a stream of calls of our tool', (index) =>
    calling(index, `t${index}`, 'recall_conversation', '{"search":"x"}'),
  ),
  inChat.streamed('a stream of arguments', (index) => calling(0, index === 0 ? 't' : '', 'f', '[{')),
  inChat.streamed('a stream of arguments without ids', () => calling(0, '', 'f', '[{')),
  inChat.streamed('a stream of thoughts', (index) =>
    chunk(`"reasoning_details":[{"type":"reasoning.text","index":${index},"text":"so "}]`),
  ),
  inChat.streamed('a stream of words', () => chunk('"content":"word "')),
].flat()
