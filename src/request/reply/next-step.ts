import type { Reply, ReplyCall } from '../../dialects/answer-contract.ts'

/** What is to be done when a reply has ended. */
export type Step =
  | { readonly kind: 'end' }
  /** Foldgate answers these calls, and the model goes on. `isTooOften`: often enough, so that it is told that there are no more answers. */
  | { readonly kind: 'recall'; readonly calls: readonly ReplyCall[]; readonly isTooOften: boolean }
  /** The text was cut. */
  | { readonly kind: 'continue-text' }
  /** A call was cut before its arguments were complete. */
  | { readonly kind: 'repeat-call'; readonly name: string }

export type StepLimits = {
  /** The name of the tool that Foldgate answers; null where it was not offered. */
  readonly toolName: string | null
  /** How often its calls may still be answered; -1 where the model has been told that they are not. */
  readonly recallsLeft: number
  readonly continuationsLeft: number
}

/**
 * What follows a reply. Where it mixes Foldgate's calls with the client's, the client's are made and the others are
 * not: a call that was made cannot be taken back, and both at once cannot be answered in one request.
 */
export function nextStep(reply: Reply, limits: StepLimits): Step {
  const ours = reply.calls.filter(({ name }) => name === limits.toolName)
  const clients = reply.calls.filter(({ name }) => name !== limits.toolName)
  if (ours.length > 0 && clients.length === 0) {
    return limits.recallsLeft < 0
      ? { kind: 'end' }
      : { kind: 'recall', calls: ours, isTooOften: limits.recallsLeft === 0 }
  }
  if (reply.finish !== 'length' || reply.hasRefusal || limits.continuationsLeft <= 0) return { kind: 'end' }
  const [only] = clients
  if (only === undefined)
    return reply.text === null || reply.text.trim() === '' ? { kind: 'end' } : { kind: 'continue-text' }
  // What else was called is made now: the client's next request goes on from there.
  return clients.length === 1 && only.isIncomplete
    ? { kind: 'repeat-call', name: only.name }
    : { kind: 'end' }
}
