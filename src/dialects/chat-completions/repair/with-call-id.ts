import { valueText, withValue } from '../joined-content.ts'

/** A result, given as JSON, under the id of the call that it answers: as a tool message, since no other has an id. */
export function withCallId(result: string, id: string): string {
  const named = withValue(result, 'tool_call_id', JSON.stringify(id))
  return valueText(named, 'role') === '"tool"' ? named : withValue(named, 'role', '"tool"')
}
