import { around, concat, listOf, MEGABYTE, times, type Attack, type HostileAnswer } from '../attack.ts'
import { hostileStream } from './hostile-stream.ts'
import { PROSE } from './responses.ts'

/**
 * Answers of a hostile upstream of the Messages API: streams that begin blocks and end none, state ever new things, or do not
 * end; answers of megabytes. `joining` is the profile under which replies are read for more than what they cost.
 */
export const messageAnswers: readonly Attack[] = [
  ...of('a stream of blocks that are begun', (bytes) =>
    hostileStream(bytes, (index) => begun(index, '{"type":"text","text":""}')),
  ),
  ...of('a stream of blocks at one place', (bytes) =>
    hostileStream(bytes, () => begun(0, '{"type":"thinking","thinking":"","signature":""}')),
  ),
  ...of('a stream of calls that are begun', (bytes) =>
    hostileStream(bytes, (index) =>
      begun(index, `{"type":"tool_use","id":"t${index}","name":"f","input":{}}`),
    ),
  ),
  ...of('a stream of calls of our tool', (bytes) =>
    hostileStream(bytes, (index) => begun(index, called(index))),
  ),
  ...of(
    'a stream of arguments of our tool',
    (bytes) =>
      hostileStream(bytes, (index) =>
        index === 0 ? begun(0, called(0)) : delta('"type":"input_json_delta","partial_json":"[{"'),
      ),
    { isQuick: true },
  ),
  ...of('a stream of arguments', (bytes) =>
    hostileStream(bytes, (index) =>
      index === 0
        ? begun(0, '{"type":"tool_use","id":"t","name":"f","input":{}}')
        : delta('"type":"input_json_delta","partial_json":"[{"'),
    ),
  ),
  ...of('a stream of a text', (bytes) =>
    hostileStream(bytes, (index) =>
      index === 0 ? begun(0, '{"type":"text","text":""}') : delta('"type":"text_delta","text":"word "'),
    ),
  ),
  ...of('a stream of citations', (bytes) =>
    hostileStream(bytes, (index) =>
      index === 0 ? begun(0, '{"type":"text","text":""}') : delta('"type":"citations_delta","citation":{}'),
    ),
  ),
  ...of('a stream of signatures', (bytes) =>
    hostileStream(bytes, (index) =>
      index === 0
        ? begun(0, '{"type":"thinking","thinking":""}')
        : delta(`"type":"signature_delta","signature":"E","k${index}":1`),
    ),
  ),
  ...of('a stream of counts of ever new things', (bytes) =>
    hostileStream(bytes, (index) =>
      event('message_delta', `"delta":{},"usage":{"output_tokens":${index},"k${index}":1}`),
    ),
  ),
  ...of('a stream of ends', (bytes) =>
    hostileStream(bytes, (index) =>
      index === 0
        ? begun(0, called(0))
        : event('message_delta', '"delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":1}'),
    ),
  ),
  ...of('a stream of beginnings', (bytes) => hostileStream(bytes, () => started(''))),
  ...of('a stream of signs of life', (bytes) => hostileStream(bytes, () => event('ping', '"x":1'))),
  ...of('a stream of events about nothing', (bytes) =>
    hostileStream(bytes, (index) => event('content_block_stop', `"index":${index}e9`)),
  ),
  ...of(
    'an event with very many transformations',
    () =>
      hostileStream(1, () => started(`"input_transformations":${listOf('{}', 3.9 * MEGABYTE).toString()}`)),
    { isExact: true },
  ),
  ...of(
    'an event of very many counts',
    () =>
      hostileStream(1, () =>
        event(
          'message_delta',
          `"delta":{},"usage":{"iterations":${listOf('{}', 3.9 * MEGABYTE).toString()}}`,
        ),
      ),
    { isExact: true },
  ),
  ...of('an event without an end', (bytes) => ({
    type: 'text/event-stream',
    pieces: [concat(['data: {"type":"content_block_delta","delta":{"text":"', times('a', bytes)])],
  })),
  ...of('an answer of very many blocks', (bytes) => plain(listOf('{}', bytes / 4).toString())),
  ...of('an answer of very many texts', (bytes) =>
    plain(listOf('{"type":"text","text":"a"}', bytes).toString()),
  ),
  ...of('an answer of very many calls of our tool', () => plain(listOf(called(1), 2 * MEGABYTE).toString())),
  ...of('an answer with a long text', (bytes) =>
    plain(`[{"type":"text","text":"${PROSE.repeat(bytes / 4 / PROSE.length)}"}]`),
  ),
]

// --- internal ---

/** The answer to a small request and to one that is joined. */
function of(
  name: string,
  answer: (bytes: number) => HostileAnswer,
  joined: Pick<Attack, 'isQuick' | 'isExact'> = {},
): readonly Attack[] {
  const attack = (profile: Pick<Attack, 'profile'>): Attack => ({
    name: `messages: answered with ${name}${profile.profile === undefined ? '' : ', joined'}`,
    room: 'sidecar',
    path: 'messages',
    bytes: 30 * MEGABYTE,
    chat: () => ({
      ...around(),
      after: [
        '"max_tokens":1000',
        '"stream":true',
        '"tools":[{"name":"f","input_schema":{"type":"object"}}]',
      ],
    }),
    answer,
    ...profile,
  })
  return [attack({}), { ...attack({ profile: 'joining' }), ...joined }]
}

function event(type: string, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`
}

function begun(index: number, block: string): string {
  return event('content_block_start', `"index":${index},"content_block":${block}`)
}

function delta(members: string): string {
  return event('content_block_delta', `"index":0,"delta":{${members}}`)
}

function started(members: string): string {
  const message = `{"id":"msg_1","type":"message","content":[],"usage":{"input_tokens":1}${members === '' ? '' : `,${members}`}}`
  return event('message_start', `"message":${message}`)
}

function called(index: number): string {
  return `{"type":"tool_use","id":"t${index}","name":"recall_conversation","input":{"search":"x"}}`
}

function plain(content: string): HostileAnswer {
  const text = `{"id":"msg_1","type":"message","role":"assistant","content":${content},"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`
  return { type: 'application/json', pieces: [Buffer.from(text)] }
}
