import { responses } from '../../../src/formats/responses/responses.ts'
import { dialectContract, sampleAnswer, sampleEntry, sampleStream } from '../../contracts/dialect-contract.ts'
import { callOf, message, responseOf, search, streamOf, thought as thinking } from './reply/streamed.ts'

const usage = {
  input_tokens: 90,
  input_tokens_details: { cached_tokens: 64 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 97,
}
const counted = { promptTokens: 90, completionTokens: 7, cachedTokens: 64, cacheWrittenTokens: null }

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

const failing = { hasOutput: false, isError: true }
const failed = responseOf([], { status: 'failed', more: { error: { code: 'server_error', message: 'no' } } })
const textsOf = (...answer: Parameters<typeof streamOf>) => streamOf(...answer).map(({ text }) => text)

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
    sampleAnswer('a text', responseOf([message('hi')], { usage }), 'end', { usage: counted }),
    sampleAnswer('cut', responseOf([message('hi')], { reason: 'max_output_tokens' }), 'length'),
    sampleAnswer('a call', responseOf([thinking(), callOf('look')]), 'calls'),
    sampleAnswer('nothing', responseOf([], { reason: 'content_filter' }), 'filtered', { hasOutput: false }),
    sampleAnswer('an error', { error: { message: 'no' } }, null, failing),
    sampleAnswer('a failure', failed, 'error', failing),
  ],
  streams: [
    sampleStream('a text with its usage', 2, 'end', textsOf([message('hé 😀')], { usage }), {
      usage: counted,
    }),
    sampleStream('a call behind thoughts', 4, 'calls', textsOf([thinking(), callOf('look')])),
    sampleStream(
      'a failure before any output',
      3,
      'error',
      [
        ...textsOf([search()]).slice(0, 2),
        `data: ${JSON.stringify({ type: 'response.failed', response: failed })}\n\n`,
      ],
      failing,
    ),
  ],
  text: 'hi there',
  plainText: responseOf([message('hi there')]),
  streamedText: textsOf([message('hi there')]),
  usage: null,
})
