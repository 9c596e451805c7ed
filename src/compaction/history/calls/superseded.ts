import { countBelow } from '../../../conversation/structure.ts'
import type { Pausable } from '../../../json/source.ts'
import type { History } from '../history.ts'
import { deedsOf } from './deeds.ts'

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
