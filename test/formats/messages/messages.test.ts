import { messages } from '../../../src/formats/messages/messages.ts'
import { eventOf } from '../joined.ts'
import { dialectContract, sampleAnswer, sampleEntry, sampleStream } from '../../contracts/dialect-contract.ts'
import { callOf, messageOf as replyOf, ping, streamOf, text, thought as thinking } from './reply/streamed.ts'

const usage = {
  input_tokens: 20,
  cache_read_input_tokens: 64,
  cache_creation_input_tokens: 6,
  output_tokens: 7,
}
const counted = { promptTokens: 90, completionTokens: 7, cachedTokens: 64, cacheWrittenTokens: 6 }

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

const secret = thinking('')
const failing = { hasOutput: false, isError: true }
const textsOf = (...answer: Parameters<typeof streamOf>) => streamOf(...answer).map((event) => event.text)
const [begun = ''] = textsOf([], { usage: { ...usage, output_tokens: 1 } })

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
    sampleAnswer('a text', replyOf([text('hi')], { usage }), 'end', { usage: counted }),
    sampleAnswer('cut', replyOf([text('hi')], { reason: 'max_tokens', usage: {} }), 'length'),
    sampleAnswer('a call', replyOf([secret, callOf('look')], { usage: {} }), 'calls'),
    sampleAnswer(
      'a full window',
      replyOf([], { reason: 'model_context_window_exceeded', usage: {} }),
      'window',
      {
        hasOutput: false,
      },
    ),
    sampleAnswer('an error', { type: 'error', error: { type: 'api_error', message: 'no' } }, null, failing),
  ],
  streams: [
    sampleStream(
      'a text with its usage',
      3,
      'end',
      [begun, ping.text, ...textsOf([text('hé 😀')], { usage }).slice(1)],
      { usage: counted },
    ),
    sampleStream('a call behind thoughts', 4, 'calls', textsOf([secret, callOf('look')], { usage: {} })),
    sampleStream(
      'a failure before any output',
      2,
      null,
      [begun, eventOf({ type: 'error', error: { type: 'overloaded_error', message: 'no' } }).text],
      failing,
    ),
  ],
  text: 'hi there',
  plainText: replyOf([text('hi there')]),
  streamedText: textsOf([text('hi there')]),
  usage: null,
})
