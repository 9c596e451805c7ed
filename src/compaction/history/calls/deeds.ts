import { countBelow } from '../../../conversation/structure.ts'
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

/**
 * What later messages make of the results of a conversation, as it stands at a point: what lies behind that plays no part.
 * Looked through once, whatever the number of points.
 */
export function* supersededIn(history: History): Pausable<Superseded> {
  const known = supersededByMessages.get(history.messages) ?? (yield* findSuperseded(history))
  supersededByMessages.set(history.messages, known)
  return known
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

type Superseded = ReturnType<typeof findSuperseded> extends Pausable<infer Found> ? Found : never

const supersededByMessages = new WeakMap<History['messages'], Superseded>()

function* findSuperseded(history: History) {
  const staleFrom = new Map<number, number>()
  const followedFrom = new Map<number, number>()
  const repeats = new Map<number, number[]>()
  const repeated = new Set<number>()
  const shown = new Map<string, Shown[]>()
  const makeStale = (result: number, from: number): void => {
    staleFrom.set(result, Math.min(from, staleFrom.get(result) ?? from))
  }
  for (const { result, failed, asked, paths, changed, work, index } of yield* deedsOf(history)) {
    yield
    // The list is told as it is now, or not at all.
    if (work !== null && result !== null) makeStale(result, result)
    // What refers to an earlier result says nothing new.
    const isShown = result !== null && !history.references.byIndex.has(result)
    // The same call is known by its words, and tests that are run again may well fail again.
    for (const name of failed ? [asked] : [asked, ...paths]) {
      const meaning = history.messages[result ?? -1]?.facts.meaning ?? ''
      const left: Shown[] = []
      let first = result
      for (const older of (shown.get(name) ?? []).slice(-SHOWN_MAX)) {
        const isAgain = isShown && name === asked
        const isEqual = isAgain && older.meaning === meaning
        if (changed.includes(name)) makeStale(older.result, index)
        else if (isAgain && !isEqual) makeStale(older.result, result)
        else left.push(older)
        if (isEqual) first = Math.min(first ?? older.first, older.first)
        if (result !== null && !followedFrom.has(older.result)) followedFrom.set(older.result, result)
      }
      if (isShown && first !== null && first < result) {
        repeated.add(result)
        const equal = repeats.get(first) ?? []
        equal.push(result)
        repeats.set(first, equal)
      }
      shown.set(name, isShown && first !== null ? [...left, { result, meaning, first }] : left)
    }
  }
  const isStale = (result: number, point: number): boolean => (staleFrom.get(result) ?? Infinity) < point
  return {
    /** Whether it is untrue: its file was changed, or the same command or file was read again and says something else. */
    isStale,
    /** Whether it says again what an earlier result of the same call says, and that still holds. */
    isRepeated: (result: number, point: number) =>
      result < point && repeated.has(result) && !isStale(result, point),
    /** Whether a later result tells of the same file, or answers the same call. */
    isFollowed: (result: number, point: number) => (followedFrom.get(result) ?? Infinity) < point,
    /** The latest result that says the same; itself if none does. */
    latestEqual: (result: number, point: number) => {
      const equal = repeats.get(result) ?? []
      return equal[countBelow(equal, point) - 1] ?? result
    },
  }
}

/** A result that says something of a file, or that a call was answered with, and the first that said the same. */
type Shown = { readonly result: number; readonly meaning: string; readonly first: number }

/** Of one file no more results are looked at. */
const SHOWN_MAX = 64
