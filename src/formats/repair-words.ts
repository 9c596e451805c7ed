// What a repair says to the model.

/** A model reads it: neither a success nor a failure, so that it does not take the call for done. */
export const NO_RESULT = '[no result was recorded for this call]'

/**
 * What stands before the text of a result that answers no call. `another`: its call is answered already; `late`: its round was
 * over when it came; `unknown`: it has no call.
 */
export function orphanMark(kind: 'another' | 'late' | 'unknown', tool: string): string {
  const call = tool === '' ? 'a tool call' : `a call to ${tool}`
  return kind === 'unknown'
    ? `[result of ${call} that is not in this conversation]`
    : `[${kind} result of ${call}]`
}
