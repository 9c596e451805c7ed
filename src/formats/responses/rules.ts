import {
  isJsonObject,
  type JsonObject,
  parseJson,
  parseJsonText,
  stringifyJson,
  stringOr,
} from '../../json/json-value.ts'
import type { Message } from '../../conversation/message.ts'
import type { Source } from '../../json/source.ts'
import { readable } from '../readable.ts'
import { NO_RESULT, type Orphan, rulesOf } from '../repair.ts'
import { callIdOf, picturesBeside, saidIn } from './item-kinds.ts'

/** A call is answered behind the reply that makes it and before the next one; what a user says meanwhile may stand between. */
export const responsesRules = rulesOf(
  { entryIsReply: false, mayInterrupt: true },
  { missing: missingResults, standIn: standInFor },
  { systemMayLead: true },
)

// --- internal ---

/** An item makes one call at most. */
function missingResults(source: Source, call: Message): readonly string[] {
  const form = readable(source, call)
  const item = parseJson(form.source, form.message)
  const output = isJsonObject(item) ? missingOutput(item) : null
  return output === null ? [] : [JSON.stringify(output)]
}

function missingOutput(call: JsonObject): JsonObject | null {
  const named = { call_id: callIdOf(call) }
  switch (call['type']) {
    case 'function_call':
      return { type: 'function_call_output', ...named, output: NO_RESULT }
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', ...named, output: NO_RESULT }
    case 'local_shell_call':
      return { type: 'local_shell_call_output', ...named, output: NO_RESULT }
    case 'apply_patch_call':
      return { type: 'apply_patch_call_output', ...named, status: 'failed', output: NO_RESULT }
    case 'shell_call': {
      const outcome = { type: 'exit', exit_code: 1 }
      return { type: 'shell_call_output', ...named, output: [{ stdout: '', stderr: NO_RESULT, outcome }] }
    }
    default:
      return null
  }
}

/** What a user says in the place of an output that answers no call. Its parts stay as they are, media among them. */
function standInFor({ mark, json }: Orphan): string {
  const parsed = parseJsonText(json)
  const item = isJsonObject(parsed) ? parsed : {}
  const pictures = picturesBeside(item)
  const output = pictures.length > 0 ? pictures : saidIn('result', item)
  const said: readonly unknown[] = Array.isArray(output)
    ? output
    : [{ type: 'input_text', text: stringOr(output, stringifyJson(output) ?? '') }]
  return JSON.stringify({
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: mark }, ...said],
  })
}
