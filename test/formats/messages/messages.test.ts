import { messages } from '../../../src/formats/messages/messages.ts'
import { dialectContract, sampleAnswer, sampleEntry, sampleStream } from '../../contracts/dialect-contract.ts'

type Event = { readonly type: string; readonly [field: string]: unknown }

const event = (json: Event) => `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`

const plain = (content: readonly object[], stop: string | null, more: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: stop,
  stop_sequence: null,
  ...more,
})
const text = (said: string) => ({ type: 'text', text: said })
const thinking = { type: 'thinking', thinking: '', signature: 'Eq0=' }
const called = { type: 'tool_use', id: 'a', name: 'look', input: {} }

const usage = {
  input_tokens: 20,
  cache_read_input_tokens: 64,
  cache_creation_input_tokens: 6,
  output_tokens: 7,
}
const counted = { promptTokens: 90, completionTokens: 7, cachedTokens: 64, cacheWrittenTokens: 6 }

const begun = (more: object = {}): Event => ({ type: 'message_start', message: plain([], null, more) })
const block = (index: number, content_block: object, ...deltas: readonly object[]): readonly Event[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const textBlock = (...pieces: readonly string[]) =>
  block(0, text(''), ...pieces.map((piece) => ({ type: 'text_delta', text: piece })))
const ended = (stop: string, more: object = {}): readonly Event[] => [
  { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, ...more },
  { type: 'message_stop' },
]

const thought = '{"type":"thinking","thinking":"hm","signature":"Eq0=","x":1e400}'
const call = '{"type":"tool_use", "id":"a","name":"look","input":{"x":[1]}}'
const result = '{"type":"tool_result","tool_use_id":"a","cost":1e400,"content":"s\\u0065en"}'
const user = '{"role":"user","content":"please"}'
const list = [
  { name: 'look', input_schema: {} },
  { type: 'web_search_20250305', name: 'web_search' },
  { type: 'mcp_toolset', mcp_server_name: 'files' },
]

/** Blocks stand in a message of whoever they are of; a text without a message is a user's. */
function messageOf(entry: string): string {
  if (entry.includes('"role"')) return entry
  const role = /"type"\s*:\s*"(?:tool_result|text)"/.test(entry) ? 'user' : 'assistant'
  return `{"role":"${role}","content":[${entry}]}`
}

dialectContract({
  dialect: messages,
  body: (entries, fields = {}) =>
    `{ ${JSON.stringify(fields).slice(1, -1)}${Object.keys(fields).length === 0 ? '' : ','} "messages" : [ ${entries.map(messageOf).join(' ,\n')} ] , "user":"ä" }`,
  conversation: [
    sampleEntry(
      'user',
      'read\nit',
      '{ "role" : "user", "content":[{"type":"text","text":"read"},{"type":"text","text":"it"}] }',
    ),
    sampleEntry('system', 'be brief', '{"role":"system","content":"be brief"}'),
    sampleEntry('user', 'please', user),
    sampleEntry('assistant', '', thought),
    sampleEntry('assistant', '', call, { goesOn: true, calls: ['a'] }),
    sampleEntry('tool', 'seen', result, { answers: ['a'] }),
    sampleEntry('assistant', 'done', '{"role":"assistant","content":"done"}'),
    sampleEntry('user', 'go on', '{"role":"user","content":"go on"}'),
  ],
  slots: [
    { entry: result, slots: [{ kind: 'result', text: 'seen' }] },
    {
      entry:
        '{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"ä"}],"is_error":true}',
      slots: [{ kind: 'result', text: 'ä' }],
    },
    { entry: call, slots: [{ kind: 'arguments', text: '{"x":[1]}' }] },
    {
      entry: '{"type":"thinking","thinking":"hm","signature":""}',
      slots: [{ kind: 'thought', text: 'hm' }],
    },
    { entry: thought, slots: [] },
    {
      entry: '{"role":"user","content":[{"type":"text","text":"ä"}],"n\\u00e4me":1}',
      slots: [{ kind: 'text', text: 'ä' }],
    },
    { entry: '{"role":"user","content":"ö"}', slots: [{ kind: 'text', text: 'ö' }] },
  ],
  broken: [
    { entries: [user, call, user], rule: 'call-unanswered' },
    { entries: [user, result], rule: 'result-orphaned' },
  ],
  streamed: { stream: true },
  limited: { max_tokens: 77 },
  tools: { fields: { tools: list }, list, names: ['look', 'web_search'] },
  answers: [
    sampleAnswer('a text', plain([text('hi')], 'end_turn', { usage }), 'end', { usage: counted }),
    sampleAnswer('cut', plain([text('hi')], 'max_tokens'), 'length'),
    sampleAnswer('a call', plain([thinking, called], 'tool_use'), 'calls'),
    sampleAnswer('a full window', plain([], 'model_context_window_exceeded'), 'window', { hasOutput: false }),
    sampleAnswer('an error', { type: 'error', error: { type: 'api_error', message: 'no' } }, null, {
      hasOutput: false,
      isError: true,
    }),
  ],
  streams: [
    sampleStream(
      'a text with its usage',
      3,
      'end',
      [
        begun({ usage: { ...usage, output_tokens: 1 } }),
        { type: 'ping' },
        ...textBlock('hé 😀'),
        ...ended('end_turn', { usage: { output_tokens: 7 } }),
      ].map(event),
      { usage: counted },
    ),
    sampleStream(
      'a call behind thoughts',
      4,
      'calls',
      [
        begun(),
        ...block(0, { ...thinking, signature: '' }, { type: 'signature_delta', signature: 'Eq0=' }),
        ...block(1, called, { type: 'input_json_delta', partial_json: '{}' }),
        ...ended('tool_use'),
      ].map(event),
    ),
    sampleStream(
      'a failure before any output',
      2,
      null,
      [begun(), { type: 'error', error: { type: 'overloaded_error', message: 'no' } }].map(event),
      { hasOutput: false, isError: true },
    ),
  ],
  text: 'hi there',
  plainText: plain([text('hi there')], 'end_turn'),
  streamedText: [begun(), ...textBlock('hi', ' there'), ...ended('end_turn')].map(event),
  usage: null,
})
