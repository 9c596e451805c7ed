import type { Call } from '../calls.ts'

/**
 * The result of a call that has none, as JSON. The call's id is the client's: none is invented. A legacy
 * `function_call` is answered by the name that it calls.
 */
export function missingResult(call: Call | undefined): string {
  const content = NO_RESULT
  if (call?.form === 'legacy') return JSON.stringify({ role: 'function', name: call.name, content })
  const id = call?.id ?? ''
  return JSON.stringify({ role: 'tool', ...(id === '' ? {} : { tool_call_id: id }), content })
}

// --- internal ---

/** A model reads it: neither a success nor a failure, so that it does not take the call for done. */
const NO_RESULT = '[no result was recorded for this call]'
