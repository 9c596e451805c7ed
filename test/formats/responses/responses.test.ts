import { responses } from '../../../src/formats/responses/responses.ts'
import { dialectContract, sampleAnswer, sampleEntry, sampleStream } from '../../contracts/dialect-contract.ts'

type Event = { readonly type: string; readonly [field: string]: unknown }

const event = (json: Event) => `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`

const message = (text: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }
const called = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'a',
  name: 'look',
  arguments: '{}',
  status: 'completed',
}

const plain = (output: readonly object[], more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
  ...more,
})

const usage = {
  input_tokens: 90,
  input_tokens_details: { cached_tokens: 64 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 97,
}
const counted = { promptTokens: 90, completionTokens: 7, cachedTokens: 64, cacheWrittenTokens: null }

/** The events of a stream, numbered. */
const numbered = (...events: readonly Event[]) =>
  events.map((each, index) => event({ ...each, sequence_number: index }))

const created = [
  { type: 'response.created', response: plain([], { status: 'in_progress' }) },
  { type: 'response.in_progress', response: plain([], { status: 'in_progress' }) },
]
const begun = { type: 'response.output_item.added', output_index: 0, item: { ...message(''), content: [] } }
const part = {
  type: 'response.content_part.added',
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  part: { type: 'output_text', text: '', annotations: [] },
}
const delta = (text: string) => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  delta: text,
})
const closed = (text: string) => [
  { type: 'response.output_text.done', item_id: 'msg_1', output_index: 0, content_index: 0, text },
  {
    type: 'response.content_part.done',
    item_id: 'msg_1',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text, annotations: [] },
  },
  { type: 'response.output_item.done', output_index: 0, item: message(text) },
]

const thought = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA","x":1e400}'
const call = '{"type":"function_call", "id":"fc_1","call_id":"a","name":"look","arguments":"{\\"x\\":1e400}"}'
const result = '{"type":"function_call_output","id":"fco_1","call_id":"a","cost":1e400,"output":"s\\u0065en"}'
const user = '{"type":"message","role":"user","content":[{"type":"input_text","text":"please"}]}'
const list = [
  { type: 'function', name: 'look', parameters: {} },
  { type: 'custom', name: 'apply_patch' },
  { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn' }] },
  { type: 'web_search' },
]

dialectContract({
  dialect: responses,
  body: (entries, fields = {}) =>
    `{ ${JSON.stringify(fields).slice(1, -1)}${Object.keys(fields).length === 0 ? '' : ','} "input" : [ ${entries.join(' ,\n')} ] , "user":"ä" }`,
  conversation: [
    sampleEntry('developer', 'be brief', '{"role":"developer","content":"be brief"}'),
    sampleEntry(
      'user',
      'read\nit',
      '{ "role" : "user", "content":[{"type":"input_text","text":"read"},{"type":"input_text","text":"it"}] }',
    ),
    sampleEntry('assistant', '', thought),
    sampleEntry('assistant', '', call, { goesOn: true, calls: ['a'] }),
    sampleEntry('tool', 'seen', result, { answers: ['a'] }),
    sampleEntry(
      'assistant',
      'done',
      '{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"done","annotations":[]}]}',
    ),
    sampleEntry('user', 'please', user),
  ],
  slots: [
    { entry: result, slots: [{ kind: 'result', text: 'seen' }] },
    { entry: call, slots: [{ kind: 'arguments', text: '{"x":1e400}' }] },
    {
      entry: '{"type":"custom_tool_call","call_id":"p","name":"apply_patch","input":"*** Begin"}',
      slots: [{ kind: 'arguments', text: '*** Begin' }],
    },
    {
      entry: '{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}',
      slots: [{ kind: 'thought', text: 'hm' }],
    },
    { entry: thought, slots: [] },
    {
      entry: '{"role":"user","content":[{"type":"input_text","text":"ä"}],"n\\u00e4me":1}',
      slots: [{ kind: 'text', text: 'ä' }],
    },
    { entry: '{"role":"user","content":"ö"}', slots: [{ kind: 'text', text: 'ö' }] },
  ],
  broken: [
    { entries: [user, call, user], rule: 'call-unanswered' },
    { entries: [user, result], rule: 'result-orphaned' },
  ],
  streamed: { stream: true, stream_options: { include_obfuscation: false } },
  limited: { max_output_tokens: 77 },
  tools: { fields: { tools: list }, list, names: ['look', 'apply_patch', 'agents', 'spawn'] },
  answers: [
    sampleAnswer('a text', plain([message('hi')], { usage }), 'end', { usage: counted }),
    sampleAnswer(
      'cut',
      plain([message('hi')], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
      'length',
    ),
    sampleAnswer('a call', plain([reasoning, called]), 'calls'),
    sampleAnswer(
      'nothing',
      plain([], { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }),
      'filtered',
      { hasOutput: false },
    ),
    sampleAnswer('an error', { error: { message: 'no' } }, null, { hasOutput: false, isError: true }),
    sampleAnswer(
      'a failure',
      plain([], { status: 'failed', error: { code: 'server_error', message: 'no' } }),
      'error',
      { hasOutput: false, isError: true },
    ),
  ],
  streams: [
    sampleStream(
      'a text with its usage',
      2,
      'end',
      numbered(...created, begun, part, delta('hé 😀'), ...closed('hé 😀'), {
        type: 'response.completed',
        response: plain([message('hé 😀')], { usage }),
      }),
      { usage: counted },
    ),
    sampleStream(
      'a call behind thoughts',
      4,
      'calls',
      numbered(
        ...created,
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { ...reasoning, encrypted_content: '' },
        },
        { type: 'response.output_item.done', output_index: 0, item: reasoning },
        { type: 'response.output_item.added', output_index: 1, item: { ...called, arguments: '' } },
        { type: 'response.output_item.done', output_index: 1, item: called },
        { type: 'response.completed', response: plain([reasoning, called]) },
      ),
    ),
    sampleStream(
      'a failure before any output',
      3,
      'error',
      numbered(...created, {
        type: 'response.failed',
        response: plain([], { status: 'failed', error: { code: 'server_error', message: 'no' } }),
      }),
      { hasOutput: false, isError: true },
    ),
  ],
  text: 'hi there',
  plainText: plain([message('hi there')]),
  streamedText: numbered(...created, begun, part, delta('hi'), delta(' there'), ...closed('hi there'), {
    type: 'response.completed',
    response: plain([message('hi there')]),
  }),
  usage: null,
})
