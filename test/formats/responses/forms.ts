import type { JsonObject } from '../../../src/json/json-value.ts'

/** A form of an item that a client may send, with a text in the place where most of it stands. */
export type Form = {
  readonly name: string
  readonly item: (text: string) => JsonObject
  /** The call that has to stand before it, or the output that has to stand behind it. */
  readonly before?: JsonObject
  readonly behind?: JsonObject
  /** Whether only the server that made it takes it back. */
  readonly isIssued?: true
}

const text = (said: string) => ({ type: 'input_text', text: said })

/** A call that the client answers, and its answer. */
const call = (type: string, more: JsonObject) => ({ type, call_id: 'call_1', status: 'completed', ...more })
/** What the server has done itself. */
const done = (type: string, id: string, more: JsonObject) => ({ type, id, status: 'completed', ...more })
const look = (description: string) => ({
  type: 'function',
  name: 'look',
  description,
  parameters: { type: 'object', properties: {} },
})

const operation = (diff: string) => ({ type: 'update_file', path: 'a.ts', diff })
const patch = (diff: string) => call('apply_patch_call', { operation: operation(diff) })
const patched = (output: string) => call('apply_patch_call_output', { output })
const shell = (command: string) => ({
  type: 'shell_call',
  call_id: 'call_1',
  action: { commands: [command], timeout_ms: 1000 },
})
const shown = (stdout: string) => ({
  type: 'shell_call_output',
  call_id: 'call_1',
  output: [{ stdout, stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
})
const local = (command: string) =>
  call('local_shell_call', { id: 'lsh_1', action: { type: 'exec', command: [command], env: {} } })
const localOutput = (output: string) => ({
  type: 'local_shell_call_output',
  id: 'lso_1',
  call_id: 'call_1',
  output,
})
const called = (argument: string) => ({
  type: 'function_call',
  call_id: 'call_1',
  name: 'look',
  arguments: JSON.stringify({ argument }),
})
const returned = (output: string) => ({ type: 'function_call_output', call_id: 'call_1', output })
const custom = (input: string) => ({ type: 'custom_tool_call', call_id: 'call_1', name: 'apply', input })
const customOutput = (output: string) => ({ type: 'custom_tool_call_output', call_id: 'call_1', output })
const computer = (typed: string) =>
  call('computer_call', { id: 'cu_1', pending_safety_checks: [], action: { type: 'type', text: typed } })
const screenshot = {
  type: 'computer_call_output',
  call_id: 'call_1',
  output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
}
const client = { call_id: 'call_1', execution: 'client' }
const searched = (wanted: string) => ({ type: 'tool_search_call', ...client, arguments: { wanted } })
const foundTools = (description: string) => ({
  type: 'tool_search_output',
  ...client,
  tools: [look(description)],
})
const approval = (argument: string) => ({
  type: 'mcp_approval_request',
  id: 'mcpr_1',
  name: 'drop',
  server_label: 'db',
  arguments: JSON.stringify({ argument }),
})
const approved = (reason: string) => ({
  type: 'mcp_approval_response',
  approval_request_id: 'mcpr_1',
  approve: true,
  reason,
})
const reply = (part: JsonObject, more: JsonObject = {}) =>
  done('message', 'msg_1', { role: 'assistant', content: [part], ...more })
const program = (code: string) => ({ type: 'program', id: 'pg_1', call_id: 'call_p', code, fingerprint: 'f' })
const programOutput = (result: string) => done('program_output', 'po_1', { call_id: 'call_p', result })
const format = (description: string) => ({ type: 'json_schema', name: 'form', schema: { description } })
const mcp = { server_label: 'db' }

/** All forms of `ResponseInputItem` whose words the model is shown. */
export const spokenForms: readonly Form[] = [
  { name: 'a message without a type', item: (said) => ({ role: 'user', content: said }) },
  { name: 'a message', item: (said) => ({ type: 'message', role: 'user', content: [text(said)] }) },
  {
    name: 'a developer’s message',
    item: (said) => ({ type: 'message', role: 'developer', content: [text(said)] }),
  },
  {
    name: 'a reply',
    item: (said) => reply({ type: 'output_text', text: said, annotations: [] }, { phase: 'commentary' }),
  },
  { name: 'a reply that refuses', item: (refusal) => reply({ type: 'refusal', refusal }) },
  {
    name: 'file_search_call',
    item: (found) => {
      const results = [{ file_id: 'f', filename: 'a.md', score: 1, text: found }]
      return done('file_search_call', 'fs_1', { queries: ['it'], results })
    },
  },
  { name: 'computer_call', item: computer, behind: screenshot },
  {
    name: 'web_search_call',
    item: (query) => done('web_search_call', 'ws_1', { action: { type: 'search', query } }),
  },
  { name: 'function_call', item: called, behind: returned('x') },
  { name: 'function_call_output', item: returned, before: called('x') },
  {
    name: 'function_call_output in parts',
    item: (output) => ({ ...returned(''), output: [text(output)] }),
    before: called('x'),
  },
  { name: 'tool_search_call', item: searched, behind: foundTools('x') },
  { name: 'tool_search_output', item: foundTools, before: searched('x') },
  {
    name: 'tool_search_output of the server',
    item: (description) => ({ ...foundTools(description), call_id: null, execution: 'server' }),
  },
  {
    name: 'additional_tools',
    item: (description) => ({ type: 'additional_tools', role: 'developer', tools: [look(description)] }),
  },
  {
    name: 'configuration_update',
    item: (description) => ({ type: 'configuration_update', text: { format: format(description) } }),
  },
  {
    name: 'reasoning in plain text',
    item: (thought) => ({
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: thought }],
    }),
    behind: { type: 'message', role: 'assistant', content: 'x' },
  },
  {
    name: 'reasoning with a summary',
    item: (thought) => ({
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: thought }],
    }),
    isIssued: true,
  },
  {
    name: 'code_interpreter_call',
    item: (logs) => {
      const outputs = [{ type: 'logs', logs }]
      return done('code_interpreter_call', 'ci_1', { container_id: 'c', code: 'print(1)', outputs })
    },
  },
  { name: 'local_shell_call', item: local, behind: localOutput('x') },
  { name: 'local_shell_call_output', item: localOutput, before: local('x') },
  { name: 'shell_call', item: shell, behind: shown('x') },
  { name: 'shell_call_output', item: shown, before: shell('x') },
  { name: 'apply_patch_call', item: patch, behind: patched('x') },
  { name: 'apply_patch_call_output', item: patched, before: patch('x') },
  {
    name: 'mcp_list_tools',
    item: (description) => {
      const tools = [{ name: 'drop', description, input_schema: {} }]
      return { type: 'mcp_list_tools', id: 'mcpl_1', ...mcp, tools }
    },
  },
  { name: 'mcp_approval_request', item: approval, behind: approved('x') },
  { name: 'mcp_approval_response', item: approved, before: approval('x') },
  {
    name: 'mcp_call',
    item: (output) => ({ type: 'mcp_call', id: 'mcp_1', ...mcp, name: 'query', arguments: '{}', output }),
  },
  { name: 'custom_tool_call', item: custom, behind: customOutput('x') },
  { name: 'custom_tool_call_output', item: customOutput, before: custom('x') },
  { name: 'program', item: program, behind: programOutput('x') },
  { name: 'program_output', item: programOutput, before: program('x') },
  { name: 'an item of a type made up later', item: (result) => ({ type: 'telepathy', id: 'tp_1', result }) },
]
