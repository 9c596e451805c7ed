import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import { dialectContract, sampleAnswer, sampleEntry, sampleStream } from '../../contracts/dialect-contract.ts'
import { eventsOf } from './reply/streamed.ts'

const plain = (message: object, reason: string | null, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
  ...more,
})

const usage = { prompt_tokens: 90, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 64 } }
const counted = { promptTokens: 90, completionTokens: 7, cachedTokens: 64, cacheWrittenTokens: null }
const role = { role: 'assistant', content: '' }
const textsOf = (...said: Parameters<typeof eventsOf>) => eventsOf(...said).map(({ text }) => text)

const call =
  '{"role":"assistant","content":null, "tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{\\"x\\":1e400}"}}]}'
const result = '{"tool_call_id":"a","cost":1e400,"role":"tool","content":"s\\u0065en"}'
const user = '{"role":"user","content":"please"}'
const list = [
  { type: 'function', function: { name: 'look', parameters: {} } },
  { type: 'custom', custom: { name: 'apply_patch' } },
]

dialectContract({
  dialect: chatCompletions,
  body: (entries, fields = {}) =>
    `{ ${JSON.stringify(fields).slice(1, -1)}${Object.keys(fields).length === 0 ? '' : ','} "messages" : [ ${entries.join(' ,\n')} ] , "user":"ä" }`,
  conversation: [
    sampleEntry('system', 'be brief', '{"role":"system","content":"be brief"}'),
    sampleEntry(
      'user',
      'read\nit',
      '{ "role" : "user", "content":[{"type":"text","text":"read"},{"type":"text","text":"it"}] }',
    ),
    sampleEntry('assistant', '', call, { calls: ['a'] }),
    sampleEntry('tool', 'seen', result, { answers: ['a'] }),
    sampleEntry('assistant', 'done', '{"role":"assistant","content":"done"}'),
    sampleEntry('user', 'please', user),
  ],
  slots: [
    { entry: result, slots: [{ kind: 'result', text: 'seen' }] },
    {
      entry: `${call.slice(0, -1).replace('"content":null', '"content":"I look."')},"reasoning":"hm","reasoning_content":"hm","x":1.0}`,
      slots: [
        { kind: 'text', text: 'I look.' },
        { kind: 'thought', text: 'hm' },
        { kind: 'arguments', text: '{"x":1e400}' },
      ],
    },
    {
      entry: '{"role":"user","content":[{"type":"text","text":"ä"}],"n\\u00e4me":1}',
      slots: [{ kind: 'text', text: 'ä' }],
    },
    {
      entry: '{"role":"assistant","tool_calls":[{"id":"a","custom":{"name":"p","input":"*** Begin"}}]}',
      slots: [{ kind: 'arguments', text: '*** Begin' }],
    },
  ],
  broken: [
    { entries: [user, call, user], rule: 'call-unanswered' },
    { entries: [user, result], rule: 'result-orphaned' },
    { entries: [user, '{"role":"assistant","tool_calls":[]}', user], rule: 'calls-emptied' },
  ],
  streamed: { stream: true, stream_options: { include_usage: true } },
  limited: { max_tokens: 77 },
  tools: { fields: { tools: list }, list, names: ['look', 'apply_patch'] },
  answers: [
    sampleAnswer('a text', plain({ content: 'hi' }, 'stop', { usage }), 'end', { usage: counted }),
    sampleAnswer('cut', plain({ content: 'hi' }, 'length'), 'length'),
    sampleAnswer(
      'a call',
      plain(
        { content: null, tool_calls: [{ id: 'a', function: { name: 'look', arguments: '{}' } }] },
        'tool_calls',
      ),
      'calls',
    ),
    sampleAnswer('thoughts', plain({ reasoning_content: 'hm' }, 'stop'), 'end'),
    sampleAnswer('nothing', plain({ content: '' }, 'content_filter'), 'filtered', { hasOutput: false }),
    sampleAnswer('a full window', plain({ content: '' }, 'model_context_window_exceeded'), 'window', {
      hasOutput: false,
    }),
    sampleAnswer('an error', { error: { message: 'no' } }, null, { hasOutput: false, isError: true }),
  ],
  streams: [
    sampleStream(
      'a text with its usage',
      1,
      'end',
      [': keep alive\n\n', ...textsOf([role, { content: 'hé 😀' }], { usage })],
      { usage: counted },
    ),
    sampleStream(
      'a call',
      0,
      'calls',
      textsOf(
        [
          { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '' } }] },
          { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
        ],
        { reason: 'tool_calls' },
      ),
    ),
    sampleStream(
      'an error before any output',
      2,
      null,
      [...textsOf([role], { reason: null }).slice(0, 1), 'data: {"error":{"message":"no"}}\n\n'],
      { hasOutput: false, isError: true },
    ),
  ],
  text: 'hi there',
  plainText: plain({ content: 'hi there' }, 'stop'),
  streamedText: textsOf([{ role: 'assistant', content: 'hi' }, { content: ' there' }]),
  usage: { asked: textsOf([{ content: 'hi' }], { usage }), unasked: textsOf([{ content: 'hi' }]) },
})
