import type { JsonObject } from '../../../src/conversation/json-value.ts'

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

const patch = (diff: string) => ({
  type: 'apply_patch_call',
  call_id: 'call_1',
  status: 'completed',
  operation: { type: 'update_file', path: 'a.ts', diff },
})
const patched = (output: string) => ({
  type: 'apply_patch_call_output',
  call_id: 'call_1',
  status: 'completed',
  output,
})
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
const local = (command: string) => ({
  type: 'local_shell_call',
  id: 'lsh_1',
  call_id: 'call_1',
  status: 'completed',
  action: { type: 'exec', command: [command], env: {} },
})
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
const computer = (typed: string) => ({
  type: 'computer_call',
  id: 'cu_1',
  call_id: 'call_1',
  status: 'completed',
  pending_safety_checks: [],
  action: { type: 'type', text: typed },
})
const screenshot = {
  type: 'computer_call_output',
  call_id: 'call_1',
  output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
}
const searched = (wanted: string) => ({
  type: 'tool_search_call',
  call_id: 'call_1',
  execution: 'client',
  arguments: { wanted },
})
const foundTools = (description: string) => ({
  type: 'tool_search_output',
  call_id: 'call_1',
  execution: 'client',
  tools: [{ type: 'function', name: 'deploy', description, parameters: { type: 'object', properties: {} } }],
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
    item: (said) => ({
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      phase: 'commentary',
      content: [{ type: 'output_text', text: said, annotations: [] }],
    }),
  },
  {
    name: 'a reply that refuses',
    item: (refusal) => ({
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'refusal', refusal }],
    }),
  },
  {
    name: 'file_search_call',
    item: (found) => ({
      type: 'file_search_call',
      id: 'fs_1',
      status: 'completed',
      queries: ['it'],
      results: [{ file_id: 'f', filename: 'a.md', score: 1, text: found }],
    }),
  },
  { name: 'computer_call', item: computer, behind: screenshot },
  {
    name: 'web_search_call',
    item: (query) => ({
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query },
    }),
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
    item: (description) => ({
      type: 'additional_tools',
      role: 'developer',
      tools: [
        { type: 'function', name: 'look', description, parameters: { type: 'object', properties: {} } },
      ],
    }),
  },
  {
    name: 'configuration_update',
    item: (description) => ({
      type: 'configuration_update',
      text: { format: { type: 'json_schema', name: 'form', schema: { description } } },
    }),
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
    item: (logs) => ({
      type: 'code_interpreter_call',
      id: 'ci_1',
      status: 'completed',
      container_id: 'c',
      code: 'print(1)',
      outputs: [{ type: 'logs', logs }],
    }),
  },
  { name: 'local_shell_call', item: local, behind: localOutput('x') },
  { name: 'local_shell_call_output', item: localOutput, before: local('x') },
  { name: 'shell_call', item: shell, behind: shown('x') },
  { name: 'shell_call_output', item: shown, before: shell('x') },
  { name: 'apply_patch_call', item: patch, behind: patched('x') },
  { name: 'apply_patch_call_output', item: patched, before: patch('x') },
  {
    name: 'mcp_list_tools',
    item: (description) => ({
      type: 'mcp_list_tools',
      id: 'mcpl_1',
      server_label: 'db',
      tools: [{ name: 'drop', description, input_schema: {} }],
    }),
  },
  { name: 'mcp_approval_request', item: approval, behind: approved('x') },
  { name: 'mcp_approval_response', item: approved, before: approval('x') },
  {
    name: 'mcp_call',
    item: (output) => ({
      type: 'mcp_call',
      id: 'mcp_1',
      server_label: 'db',
      name: 'query',
      arguments: '{}',
      output,
    }),
  },
  { name: 'custom_tool_call', item: custom, behind: customOutput('x') },
  { name: 'custom_tool_call_output', item: customOutput, before: custom('x') },
  {
    name: 'program',
    item: (code) => ({ type: 'program', id: 'pg_1', call_id: 'call_p', code, fingerprint: 'f' }),
    behind: { type: 'program_output', id: 'po_1', call_id: 'call_p', result: 'x', status: 'completed' },
  },
  {
    name: 'program_output',
    item: (result) => ({
      type: 'program_output',
      id: 'po_1',
      call_id: 'call_p',
      result,
      status: 'completed',
    }),
    before: { type: 'program', id: 'pg_1', call_id: 'call_p', code: 'x', fingerprint: 'f' },
  },
  { name: 'an item of a type made up later', item: (result) => ({ type: 'telepathy', id: 'tp_1', result }) },
]
