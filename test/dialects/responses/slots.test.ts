import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/conversation/json-value.ts'
import { finish } from '../../../src/conversation/source.ts'
import { responses } from '../../../src/dialects/responses/responses.ts'
import { sourceOf } from '../../support/source.ts'

const { entries } = responses
const long = 'long '.repeat(80)
const item = (role: string, part: object) => ({ type: 'message', role, content: [part] })

// A recorded agent's long reply was shortened to fit and written as `input_text`. The server refused the whole
// request: "Invalid value: 'input_text'. Supported values are: 'output_text', 'refusal'."
test.each<[string, string, object, object]>([
  [
    'a reply',
    'assistant',
    { type: 'output_text', text: 'long', annotations: [{ type: 'url_citation' }] },
    { type: 'output_text', text: 'short', annotations: [] },
  ],
  [
    'a refusal',
    'assistant',
    { type: 'refusal', refusal: 'long' },
    { type: 'output_text', text: 'short', annotations: [] },
  ],
  ['a user’s words', 'user', { type: 'input_text', text: 'long' }, { type: 'input_text', text: 'short' }],
])('%s that was shortened is spelt as its role’s parts are', (_, role, part, shortened) => {
  expect(withText(item(role, part), 'short')).toEqual(item(role, shortened))
})

test('an output that was shortened is an input, as it was', () => {
  expect(withText(outputOf('long'), 'short')).toEqual(outputOf('short'))
})

// A large answer of an MCP server's could not be shortened: all that it stood in was folded, the newest round included.
test.each<[string, JsonObject, JsonObject]>([
  [
    'an MCP call',
    { type: 'mcp_call', id: 'mcp_1', name: 'find', arguments: '{"q":1}', output: long },
    { type: 'mcp_call', id: 'mcp_1', name: 'find', arguments: '{"q":1}', output: 'short' },
  ],
  [
    'a run of code',
    { type: 'code_interpreter_call', id: 'ci_1', code: long, outputs: [{ type: 'logs', logs: long }] },
    { type: 'code_interpreter_call', id: 'ci_1', code: long, outputs: [{ type: 'logs', logs: 'short' }] },
  ],
  [
    'a search of files',
    { type: 'file_search_call', id: 'fs_1', queries: ['a'], results: [{ file_id: 'f', text: long }] },
    { type: 'file_search_call', id: 'fs_1', queries: ['a'], results: [{ file_id: 'f', text: 'short' }] },
  ],
])(
  'what the server’s own work came out as is shortened, and nothing else of it: %s',
  (_, done, shortened) => {
    expect(withText(done, 'short')).toEqual(shortened)
  },
)

// --- internal ---

function outputOf(text: string) {
  return { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text }] }
}

/** An item with this text in its only slot. */
function withText(value: JsonObject, text: string): unknown {
  const json = JSON.stringify(value)
  const source = sourceOf(json)
  const span = { start: 0, end: json.length, elements: 0, keys: 0 }
  const [slot] = finish(entries.slots(source, span, entries.parse(value)))
  if (slot === undefined) throw new Error('nothing in the item may be shortened')
  return JSON.parse(finish(entries.edited(source, span, new Map([[slot, text]]), Number.POSITIVE_INFINITY)))
}
