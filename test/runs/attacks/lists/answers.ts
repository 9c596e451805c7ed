import {
  around,
  concat,
  listOf,
  MEGABYTE,
  times,
  type Attack,
  type HostileAnswer,
  type Json,
} from '../attack.ts'
import { hostileStream as stream } from './hostile-stream.ts'
import { call, PROSE, said, thought } from './responses.ts'

/**
 * Answers of a hostile upstream, or of a model that was talked into one: streams that do not end, events by the hundred
 * thousand that begin something and end nothing, events and answers of megabytes. `joining` is the profile under which replies
 * are read for more than what they cost.
 */
export const answers: readonly Attack[] = [
  ...of('a stream of items that are begun', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) =>
      added(index, `{"type":"message","id":"m_${index}","role":"assistant","content":[]}`),
    ),
  ),
  ...of('a stream of whole items', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) =>
      event('output_item.done', index, `"output_index":${index},"item":${said(index)}`),
    ),
  ),
  ...of('a stream of calls that are begun', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) => added(index, call(index))),
  ),
  ...of('a stream of thoughts', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) => added(index, thought(index, 'gAAAAAB').toString())),
  ),
  ...of(
    'a stream of parts',
    30 * MEGABYTE,
    (bytes) => stream(bytes, (index) => (index === 0 ? added(0, MESSAGE) : partAdded(index - 1))),
    { isQuick: true },
  ),
  ...of('a stream of deltas', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) =>
      index === 0
        ? added(0, MESSAGE)
        : event('output_text.delta', index, `${PLACE},"content_index":0,"delta":"word "`),
    ),
  ),
  ...of('a stream of ends of one long text', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) => {
      const long = index === 1 ? PROSE.repeat(30_000) : 'a'
      const part = `{"type":"output_text","text":"${long}"}`
      return index === 0
        ? added(0, MESSAGE)
        : event(
            'content_part.done',
            index,
            `${PLACE},"content_index":${Math.min(1, index - 1)},"part":${part}`,
          )
    }),
  ),
  ...of('a stream of the same end', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) =>
      index === 0
        ? added(0, MESSAGE)
        : event('output_text.done', index, `${PLACE},"content_index":0,"text":""`),
    ),
  ),
  ...of('a stream of thoughts that are written', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) =>
      index === 0
        ? added(0, '{"type":"reasoning","id":"rs","summary":[]}')
        : event(
            'reasoning_summary_text.delta',
            index,
            '"item_id":"rs","output_index":0,"summary_index":0,"delta":"so "',
          ),
    ),
  ),
  ...of('a stream of events about nothing', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) => event('telepathy', -index, '"output_index":1e9,"item_id":"nobody"')),
  ),
  ...of('a stream that begins and begins', 30 * MEGABYTE, (bytes) =>
    stream(bytes, (index) =>
      event('created', index, '"response":{"id":"resp_1","status":"in_progress","output":[]}'),
    ),
  ),
  ...of('a stream of line ends', 8 * MEGABYTE, (bytes) => ({
    type: 'text/event-stream',
    pieces: [times('\n', bytes)],
  })),
  ...of('a stream of empty events', 8 * MEGABYTE, (bytes) => ({
    type: 'text/event-stream',
    pieces: [times('data: {}\n\n', bytes)],
  })),
  ...of(
    'an event with very many transformations',
    3.9 * MEGABYTE,
    (bytes) => stream(1, () => ended(`"input_transformations":${listOf('{}', bytes).toString()}`)),
    { isQuick: true, isExact: true },
  ),
  ...of('a longer event with very many transformations', 7.9 * MEGABYTE, (bytes) =>
    stream(1, () => ended(`"input_transformations":${listOf('{}', bytes).toString()}`)),
  ),
  ...of('an event of very many items', 3.9 * MEGABYTE, (bytes) =>
    stream(1, () => ended(`"output":${listOf(said(0), bytes).toString()}`)),
  ),
  ...of('an event that is deep', 3.9 * MEGABYTE, (bytes) =>
    stream(1, () => ended(`"metadata":${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`)),
  ),
  ...of('an event without an end', 30 * MEGABYTE, (bytes) => ({
    type: 'text/event-stream',
    pieces: [concat(['data: {"type":"response.output_text.delta","delta":"', times('a', bytes)])],
  })),
  ...of('an answer of very many items', 8 * MEGABYTE, (bytes) =>
    plain(`"output":${listOf('{}', bytes).toString()}`),
  ),
  ...of('a long answer of very many items', 30 * MEGABYTE, (bytes) =>
    plain(`"output":${listOf(said(0), bytes).toString()}`),
  ),
  ...of('an answer with a long text', 8 * MEGABYTE, (bytes) =>
    plain(`"output":[${said(0, PROSE.repeat(bytes / PROSE.length))}]`),
  ),
  ...of('an answer with very many transformations', 8 * MEGABYTE, (bytes) =>
    plain(`"output":[${said(0)}],"input_transformations":${listOf('{}', bytes).toString()}`),
  ),
]

// --- internal ---

const MESSAGE = '{"type":"message","id":"m","role":"assistant","status":"in_progress","content":[]}'

const PLACE = '"item_id":"m","output_index":0'

/** The answer to a small request and to one that is joined. */
function of(
  name: string,
  bytes: number,
  answer: (bytes: number) => HostileAnswer,
  joined: Pick<Attack, 'isQuick' | 'isExact'> = {},
): readonly Attack[] {
  const attack = (profile: Pick<Attack, 'profile'>): Attack => ({
    name: `answered with ${name}${profile.profile === undefined ? '' : ', joined'}`,
    room: 'sidecar',
    path: 'responses',
    bytes,
    chat: () => ({ ...around(), after: ['"store":false', '"stream":true', RECALLED] }),
    answer,
    ...profile,
  })
  return [attack({}), { ...attack({ profile: 'joining' }), ...joined }]
}

const RECALLED = '"tools":[{"type":"function","name":"f","parameters":{}}]'

function event(type: string, number: number, members: string): string {
  return `event: response.${type}\ndata: {"type":"response.${type}","sequence_number":${number},${members}}\n\n`
}

function added(index: number, item: string): string {
  return event('output_item.added', index, `"output_index":${index},"item":${item}`)
}

function ended(members: Json): string {
  return event(
    'completed',
    0,
    `"response":{"id":"resp_1","object":"response","status":"completed","output":[],${String(members)}}`,
  )
}

function plain(members: string): HostileAnswer {
  const text = `{"id":"resp_1","object":"response","status":"completed",${members},"usage":{"input_tokens":1,"output_tokens":1}}`
  return { type: 'application/json', pieces: [Buffer.from(text)] }
}

function partAdded(index: number): string {
  const members = `${PLACE},"content_index":${index},"part":{"type":"output_text","text":"a"}`
  return event('content_part.added', index + 1, members)
}
