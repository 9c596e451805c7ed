/** How often each id still waits for an answer. */
export type UnansweredIds = Map<string, number>

/** The ids of calls, each as often as it stands there. Calls without an id count under ''. */
export function unansweredIdsOf(callIds: readonly string[]): UnansweredIds {
  const counts: UnansweredIds = new Map()
  addUnanswered(counts, callIds)
  return counts
}

/** Adds more calls of the same reply. */
export function addUnanswered(counts: UnansweredIds, callIds: readonly string[]): void {
  for (const id of callIds) counts.set(id, (counts.get(id) ?? 0) + 1)
}

/** Takes one call of that id off the list; false where none waits. */
export function takeAnswered(unanswered: UnansweredIds, id: string): boolean {
  const count = unanswered.get(id) ?? 0
  if (count === 0) return false
  unanswered.set(id, count - 1)
  return true
}

/** Takes the call off the list that a result of this id answers: the one of its id, else any that has none. */
export function takeAnswerOf(unanswered: UnansweredIds, id: string): boolean {
  return takeAnswered(unanswered, id) || takeAnswered(unanswered, '')
}
