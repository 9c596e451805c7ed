import { countBelow } from '../../conversation/count-below.ts'
import type { Subject } from '../../subject/subject.ts'

/**
 * Which messages before a frontier hold for all that follows: each that adds something, and of those that replace one another
 * the last before the point, unless it stands behind the frontier.
 */
export function restatedAt(subject: Subject, point: number, frontier: number): readonly number[] {
  const { each, replacing } = survivingIn(subject)
  const added = each.slice(0, countBelow(each, frontier))
  const last = replacing[countBelow(replacing, point) - 1]
  if (last === undefined || last >= frontier) return added
  return added.toSpliced(countBelow(added, last), 0, last)
}

/** How many messages may be restated at a point: each frontier before it is weighed with all of them. */
export function restatedMost(subject: Subject, point: number): number {
  return countBelow(survivingIn(subject).each, point)
}

// --- internal ---

/** The messages that hold for all that follows, ascending: each of them, or only the last. */
type Surviving = { readonly each: readonly number[]; readonly replacing: readonly number[] }

/** By subject, of which many frontiers are looked at: hardly any conversation has such messages. */
const survivingBySubject = new WeakMap<Subject, Surviving>()

function survivingIn(subject: Subject): Surviving {
  const known = survivingBySubject.get(subject)
  if (known !== undefined) return known
  const { messages, structure } = subject
  const each: number[] = []
  const replacing: number[] = []
  const calls = new Map<string, number>()
  const said = new Set<number>()
  for (const [index, { facts }] of messages.entries()) {
    if (index < structure.systemCount || facts.survives === undefined) continue
    if (facts.survives === 'last') {
      replacing.push(index)
      continue
    }
    // A call is said again with its result, or not at all: in a broken conversation its result may be of another kind.
    const unit = structure.unitStart(index)
    for (const id of facts.callIds) calls.set(`${unit} ${id}`, index)
    const [answered] = facts.answers
    const call =
      facts.survives === 'each-with-call'
        ? callIn(subject, unit, index)
        : answered === undefined
          ? undefined
          : calls.get(`${unit} ${answered}`)
    if (call !== undefined) {
      // In a broken conversation a call may have two results: it is said again with the first.
      if (said.has(call)) continue
      said.add(call)
      each.push(call, index)
      calls.delete(`${unit} ${answered}`)
    } else if (facts.callIds.length === 0 && answered === undefined) each.push(index)
  }
  const surviving = { each: each.sort((one, other) => one - other), replacing }
  survivingBySubject.set(subject, surviving)
  return surviving
}

/** The call in a unit that a result answers. */
function callIn({ messages }: Subject, unit: number, result: number): number | undefined {
  const [answered] = messages[result]?.facts.answers ?? []
  for (let index = unit; index < result; index += 1) {
    const { callIds } = messages[index]?.facts ?? { callIds: [] }
    // Of a message with several calls the others would stay without results.
    if (answered !== undefined && callIds.length === 1 && callIds[0] === answered) return index
  }
  return undefined
}
