import type { Pausable } from '../../../json/source.ts'
import { callOf, type History } from '../history.ts'
import { callSubjects, type CallSubject } from './call-subject.ts'

/** A call, what it deals with, and where it was answered. One file has one path, however calls spell it. */
export type Deed = CallSubject & {
  readonly index: number
  readonly position: number
  /** The first result; null as long as there is none. */
  readonly result: number | null
  /** Whether that tells of a failure. */
  readonly failed: boolean
}

/** What deeds are read from. */
export type Doing = Pick<
  History,
  'dialect' | 'source' | 'messages' | 'structure' | 'grewFrom' | 'memorySpace' | 'digest'
>

/** All calls of a conversation, in their order: those of the one that it grew from are taken over. */
export function* deedsOf(history: Doing): Pausable<readonly Deed[]> {
  const { messages, grewFrom } = history
  const known = deedsByMessages.get(messages)
  if (known !== undefined) return known
  const before = grewFrom === null ? undefined : deedsByMessages.get(grewFrom.messages)
  const from = before === undefined ? 0 : (grewFrom?.shared ?? 0)
  const deeds: Deed[] = []
  const places = new Map<string, number>()
  const add = (deed: Deed): unknown => places.set(`${deed.index} ${deed.position}`, deeds.push(deed) - 1)
  const spellings = createSpellings()
  for (const deed of before ?? []) {
    if (deed.index >= from) break
    const isOpen = deed.result !== null && deed.result >= from
    add(isOpen ? { ...deed, result: null, failed: false } : deed)
    for (const path of deed.paths) spellings(path)
  }
  for (let index = from; index < messages.length; index += 1) {
    yield
    const facts = messages[index]?.facts
    if (facts === undefined) break
    for (const [position, call] of (yield* callSubjects(history, index)).entries()) {
      const [paths, changed] = [call.paths.map(spellings), call.changed.map(spellings)]
      add({ ...call, paths, changed, index, position, result: null, failed: false })
    }
    const call = facts.answers.length === 1 ? callOf(history, index) : null
    const place = call === null ? -1 : (places.get(`${call.index} ${call.position}`) ?? -1)
    const deed = deeds[place]
    if (deed?.result !== null) continue
    const failed =
      facts.failed === 'stated' ||
      (facts.failed === 'worded' && (!deed.isLook || facts.bytes <= FAILURE_BYTES_MAX))
    deeds[place] = { ...deed, result: index, failed }
  }
  deedsByMessages.set(messages, deeds)
  return deeds
}

// --- internal ---

const deedsByMessages = new WeakMap<History['messages'], readonly Deed[]>()

/** What is read may begin with any words; where it is longer than this, they are those of a file. */
const FAILURE_BYTES_MAX = 1_024

/** So many files of one name are told apart. */
const SAME_NAME_MAX = 16

/** The spelling by which a path was known before: a command names a file from where it is, others by the whole path. */
function createSpellings(): (path: string) => string {
  const byName = new Map<string, string[]>()
  return function spelledFirst(path) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    const seen = byName.get(name) ?? []
    byName.set(name, seen)
    const first = seen.findLast((other) => other === path || other.endsWith(`/${path}`))
    if (first === undefined && seen.length < SAME_NAME_MAX) seen.push(path)
    return first ?? path
  }
}
