import { chatCompletions } from '../../../src/dialects/chat-completions/chat-completions.ts'
import { dialectContract } from '../../contracts/dialect-contract.ts'

const event = (json: object | string) => `data: ${typeof json === 'string' ? json : JSON.stringify(json)}\n\n`

const chunk = (delta: object, reason: string | null = null) =>
  event({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })

const plain = (message: object, reason: string | null, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }],
  ...more,
})

const usage = { prompt_tokens: 90, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 64 } }
const counted = { promptTokens: 90, completionTokens: 7, cachedTokens: 64, cacheWrittenTokens: null }
const end = event('[DONE]')

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
    { entry: '{"role":"system","content":"be brief"}', role: 'system', text: 'be brief', opensReply: false },
    {
      entry: '{ "role" : "user", "content":[{"type":"text","text":"read"},{"type":"text","text":"it"}] }',
      role: 'user',
      text: 'read\nit',
      opensReply: false,
    },
    { entry: call, role: 'assistant', text: '', opensReply: true, calls: ['a'] },
    { entry: result, role: 'tool', text: 'seen', opensReply: false, answers: ['a'] },
    { entry: '{"role":"assistant","content":"done"}', role: 'assistant', text: 'done', opensReply: true },
    { entry: user, role: 'user', text: 'please', opensReply: false },
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
    {
      name: 'a text',
      body: plain({ content: 'hi' }, 'stop', { usage }),
      hasOutput: true,
      finish: 'end',
      usage: counted,
    },
    { name: 'cut', body: plain({ content: 'hi' }, 'length'), hasOutput: true, finish: 'length' },
    {
      name: 'a call',
      body: plain(
        { content: null, tool_calls: [{ id: 'a', function: { name: 'look', arguments: '{}' } }] },
        'tool_calls',
      ),
      hasOutput: true,
      finish: 'calls',
    },
    { name: 'thoughts', body: plain({ reasoning_content: 'hm' }, 'stop'), hasOutput: true, finish: 'end' },
    { name: 'nothing', body: plain({ content: '' }, 'content_filter'), hasOutput: false, finish: 'filtered' },
    {
      name: 'a full window',
      body: plain({ content: '' }, 'model_context_window_exceeded'),
      hasOutput: false,
      finish: 'window',
    },
    { name: 'an error', body: { error: { message: 'no' } }, hasOutput: false, finish: null, isError: true },
  ],
  streams: [
    {
      name: 'a text with its usage',
      events: [
        ': keep alive\n\n',
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'hé 😀' }),
        chunk({}, 'stop'),
        event({ choices: [], usage }),
        end,
      ],
      silent: 1,
      hasOutput: true,
      finish: 'end',
      usage: counted,
    },
    {
      name: 'a call',
      events: [
        chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }, 'tool_calls'),
        end,
      ],
      silent: 0,
      hasOutput: true,
      finish: 'calls',
    },
    {
      name: 'an error before any output',
      events: [chunk({ role: 'assistant' }), event({ error: { message: 'no' } })],
      silent: 2,
      hasOutput: false,
      finish: null,
      isError: true,
    },
  ],
  text: 'hi there',
  plainText: plain({ content: 'hi there' }, 'stop'),
  streamedText: [
    chunk({ role: 'assistant', content: 'hi' }),
    chunk({ content: ' there' }),
    chunk({}, 'stop'),
    end,
  ],
  usage: {
    asked: [chunk({ content: 'hi' }), chunk({}, 'stop'), event({ choices: [], usage }), end],
    unasked: [chunk({ content: 'hi' }), chunk({}, 'stop'), end],
  },
})
