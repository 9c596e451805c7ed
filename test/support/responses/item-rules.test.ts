import { describe, expect, test } from 'vitest'
import { itemBreaks, type Issued, type ItemRule } from './item-rules.ts'

const user = { role: 'user', content: 'Hello' }
const said = (id?: string) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi' }],
  ...(id !== undefined && { id }),
})
const call = (callId: string, id?: string) => ({
  type: 'function_call',
  call_id: callId,
  name: 'search',
  arguments: '{}',
  ...(id !== undefined && { id }),
})
const output = (callId: string) => ({ type: 'function_call_output', call_id: callId, output: 'found' })
const thought = (id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: 'gAAA' })
const update = { type: 'configuration_update', reasoning: { effort: 'low' } }
const trigger = { type: 'compaction_trigger' }

// rs_1 led to msg_1 and fc_1, rs_2 to fc_2, all in replies of their own but for those two.
const made = new Map([
  ['rs_1', { reply: 'resp_1', reasoningId: null }],
  ['msg_1', { reply: 'resp_1', reasoningId: 'rs_1' }],
  ['fc_1', { reply: 'resp_1', reasoningId: 'rs_1' }],
  ['rs_2', { reply: 'resp_2', reasoningId: null }],
  ['fc_2', { reply: 'resp_2', reasoningId: 'rs_2' }],
])
const issued: Issued = made

const pairs: readonly (readonly [object, object, string])[] = [
  [call('a'), output('a'), 'function call'],
  [
    { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'a', output: 'x' },
    'custom tool call',
  ],
  [
    { type: 'local_shell_call', id: 'ls', call_id: 'a', action: {} },
    { type: 'local_shell_call_output', id: 'a', output: 'x' },
    'local shell call',
  ],
  [
    { type: 'shell_call', call_id: 'a', action: {} },
    { type: 'shell_call_output', call_id: 'a', output: [] },
    'shell call',
  ],
  [
    { type: 'apply_patch_call', call_id: 'a', operation: {} },
    { type: 'apply_patch_call_output', call_id: 'a', status: 'completed' },
    'apply patch call',
  ],
  [
    { type: 'computer_call', id: 'cu_1', call_id: 'a', action: {} },
    { type: 'computer_call_output', call_id: 'a', output: { type: 'computer_screenshot' } },
    'computer call',
  ],
  [
    { type: 'tool_search_call', call_id: 'a', arguments: '{}' },
    { type: 'tool_search_output', call_id: 'a', tools: [] },
    'tool search call',
  ],
  [
    { type: 'program', id: 'pg_1', call_id: 'a', code: 'x' },
    { type: 'program_output', id: 'po_1', call_id: 'a', result: 'x' },
    'program',
  ],
  [
    { type: 'mcp_approval_request', id: 'a', name: 'x', arguments: '{}' },
    { type: 'mcp_approval_response', approval_request_id: 'a', approve: true },
    'MCP approval request',
  ],
]

const valid: Record<string, object[]> = {
  'a plain exchange': [user, said(), user],
  'system and developer messages anywhere': [
    { role: 'developer', content: 'x' },
    user,
    { role: 'system', content: 'y' },
  ],
  'parallel calls answered in any order': [user, call('a'), call('b'), output('b'), output('a')],
  'an id used again in a later round': [user, call('a'), output('a'), call('a'), output('a')],
  'an id used twice in one round': [user, call('a'), call('a'), output('a'), output('a')],
  'a message between a call and its output': [user, call('a'), user, output('a')],
  'reasoning with what followed from it': [
    user,
    thought('rs_1'),
    said('msg_1'),
    call('a', 'fc_1'),
    output('a'),
  ],
  'two thoughts before one message': [user, thought('rs_8'), thought('rs_9'), said()],
  'items without ids whose reasoning is gone': [user, said(), call('a'), output('a')],
  'ids that were made elsewhere': [user, said('msg_x'), call('a', 'fc_x'), output('a')],
  'a search that the server has made': [
    user,
    thought('rs_1'),
    { type: 'web_search_call', id: 'ws_1' },
    said('msg_1'),
  ],
  'a tool search of the server’s own': [user, { type: 'tool_search_call' }, { type: 'tool_search_output' }],
  'unknown items': [user, { type: 'hologram', light: 1 }, thought('rs_1'), { type: 'hologram' }, user],
  'updates that are apart, and a trigger at the end': [update, user, update, trigger],
  'a compaction with what follows it': [{ type: 'compaction', encrypted_content: 'x' }, user],
}

const broken: [string, ItemRule[], string, unknown[]][] = [
  [
    'a thought that a user message follows',
    ['reasoning-alone'],
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    [user, thought('rs_1'), user],
  ],
  [
    'a thought at the end',
    ['reasoning-alone'],
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    [user, thought('rs_1')],
  ],
  [
    'a thought whose own reply is gone, before the thought of another one',
    ['reasoning-alone'],
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    [user, thought('rs_1'), thought('rs_2'), call('a', 'fc_2'), output('a')],
  ],
  [
    'a message whose thought is gone',
    ['reasoning-missing'],
    "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.",
    [user, said('msg_1'), user],
  ],
  [
    'a call whose thought stands before another output',
    ['reasoning-missing'],
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    [user, thought('rs_1'), call('b'), output('b'), call('a', 'fc_1'), output('a')],
  ],
  [
    'an update after an update',
    ['update-repeated'],
    "Invalid 'input[1]': a 'configuration_update' may not follow another.",
    [update, update, user],
  ],
  [
    'a trigger before the end',
    ['trigger-not-last'],
    "Invalid 'input[1]': 'compaction_trigger' must be the last item.",
    [user, trigger, user],
  ],
  [
    'an item that is no object',
    ['item-shape'],
    "Invalid type for 'input[0]': expected an object.",
    ['Hello'],
  ],
  [
    'a call without an id to answer it by',
    ['item-shape'],
    "Missing required parameter: 'input[0].call_id'.",
    [{ type: 'function_call', name: 'search', arguments: '{}' }, { ...output('') }],
  ],
  [
    'arguments that are no text',
    ['item-shape'],
    "Invalid type for 'input[0].arguments': expected a string.",
    [{ ...call('a'), arguments: {} }, output('a')],
  ],
  [
    'a role of chat completions',
    ['item-shape'],
    "Invalid value: 'tool'. Supported values are: 'user', 'assistant', 'system', 'developer'.",
    [{ role: 'tool', content: 'x' }],
  ],
  [
    'a part of chat completions',
    ['item-shape'],
    "Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'input_file', 'input_audio'.",
    [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  ],
  [
    'what a user says in the words of an assistant',
    ['item-shape'],
    "Invalid value: 'input_text'. Supported values are: 'output_text', 'refusal'.",
    [{ role: 'assistant', content: [{ type: 'input_text', text: 'Hello' }] }],
  ],
  [
    'a call that has the id to answer it by as its own',
    ['item-shape'],
    "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'.",
    [call('call_1', 'call_1'), output('call_1')],
  ],
]

test.each(Object.entries(valid))('accepts %s', (_, items) => {
  expect(itemBreaks(items, issued)).toEqual([])
})

test.each(broken)('refuses %s', (_, rules, message, items) => {
  const breaks = itemBreaks(items, issued)
  expect(breaks.map(({ rule }) => rule)).toEqual(rules)
  expect(breaks[0]?.message).toBe(message)
})

describe.each(pairs)('a call and its output', (asked, answered, words) => {
  test(`of the kind “${words}” belong together, in this order`, () => {
    const both = {
      unanswered: `No tool output found for ${words} a.`,
      orphan: `No tool call found for ${words} output with call_id a.`,
    }
    expect(messages([user, asked, answered])).toEqual([])
    expect(messages([user, asked])).toEqual([both.unanswered])
    expect(messages([user, answered])).toEqual([both.orphan])
    expect(messages([user, answered, asked])).toEqual([both.orphan, both.unanswered])
    expect(messages([user, asked, answered, answered])).toEqual([both.orphan])
  })
})

test('names parameter and code as OpenAI does', () => {
  expect(itemBreaks([user, call('a')], issued)).toEqual([
    {
      rule: 'call-unanswered',
      index: 1,
      message: 'No tool output found for function call a.',
      param: 'input',
      code: null,
    },
  ])
})

// --- internal ---

function messages(items: readonly object[]): readonly string[] {
  return itemBreaks(items, issued).map(({ message }) => message)
}
