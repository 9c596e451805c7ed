import type { Subject } from '../subject.ts'

/**
 * Which messages before a frontier hold for all that follows: each that adds something, and of those that replace one another
 * the last before the point, unless it stands behind the frontier.
 */
export function restatedAt(subject: Subject, point: number, frontier: number): readonly number[] {
  const surviving = survivingIn(subject)
  if (surviving.length === 0) return surviving
  const { messages } = subject
  const isLastOfItsKind = (index: number): boolean => messages[index]?.facts.survives === 'last'
  const last = surviving.findLast((index) => index < point && isLastOfItsKind(index))
  return surviving.filter((index) => index < frontier && (!isLastOfItsKind(index) || index === last))
}

// --- internal ---

/** By subject, of which many frontiers are looked at: hardly any conversation has such messages. */
const survivingBySubject = new WeakMap<Subject, readonly number[]>()

function survivingIn(subject: Subject): readonly number[] {
  const known = survivingBySubject.get(subject)
  if (known !== undefined) return known
  const { messages, structure } = subject
  const surviving: number[] = []
  for (let index = structure.systemCount; index < messages.length; index += 1)
    if (messages[index]?.facts.survives !== undefined) surviving.push(index)
  survivingBySubject.set(subject, surviving)
  return surviving
}
