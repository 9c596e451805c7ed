import { matchesGlob } from '../../profiles/glob.ts'
import type { Pausable } from '../../json/source.ts'
import { supersededIn } from '../history/calls/superseded.ts'
import { numberInMark } from '../history/message-numbers.ts'
import { lookedAt } from '../history/read-message.ts'
import { type Rounds, type History, toolNameOf } from '../history/history.ts'
import { isUnguessable, thingsInSteps } from '../history/specific-names.ts'

// Clearing: a tool result becomes a short placeholder. A compaction clears as many results as it takes to come down to its
// target, in the order of `clearableResults`, and puts those back for which there is room in the end (`plan/edit-by-worth.ts`).
// The newest `clear.keep_results` stay, and those of `clear.except_tools`.

/** Whether a message is a result, and a profile lets those of its tool be cleared. */
export function mayBeCleared(rounds: Rounds, exceptTools: readonly string[], index: number): boolean {
  if (rounds.messages[index]?.facts.role !== 'tool') return false
  if (exceptTools.length === 0) return true
  const tool = toolNameOf(rounds, index)
  return !exceptTools.some((pattern) => matchesGlob(pattern, tool))
}

/**
 * The results from `start` up to `end` that may be cleared, those first that a next step misses least: large and old ones, those
 * sooner whose file a later one tells of. `tokensAt`: what a result takes now; 0 where it is cleared already. `isSuperseded`: a
 * later one says otherwise, or the same again.
 */
export function* clearableResults(
  history: History,
  exceptTools: readonly string[],
  { start, end, point }: { readonly start: number; readonly end: number; readonly point: number },
  tokensAt: (index: number) => Pausable<number>,
) {
  const { isStale, isRepeated, isFollowed, latestEqual } = yield* supersededIn(history)
  const found: { readonly index: number; readonly isSuperseded: boolean; readonly worthlessness: number }[] =
    []
  const ages = new Map<number, number>()
  let age = 0
  for (let index = point - 1; index >= start; index -= 1) {
    const facts = history.messages[index]?.facts
    if (facts?.opensReply === true) age += 1
    if (facts?.role !== 'tool') continue
    ages.set(index, age)
    if (index >= end || !mayBeCleared(history, exceptTools, index)) continue
    const tokens = yield* tokensAt(index)
    if (tokens < CLEARED_TOKENS_MIN) continue
    const isSuperseded = isStale(index, point) || isRepeated(index, point)
    // Of equal results the earliest stays, and is as young as the latest of them.
    const latest = latestEqual(index, point)
    const weight = latest === index && isFollowed(index, point) ? FOLLOWED_WEIGHT : 1
    const replies = ages.get(latest) ?? age
    found.push({ index, isSuperseded, worthlessness: tokens * (1 + replies / AGE_REPLIES) * weight })
  }
  return found.sort((one, other) => other.worthlessness - one.worthlessness)
}

/**
 * What stands in the place of a cleared tool result: the tool and the size, so that it can be asked for again, the name by
 * which it can be read back, null where it cannot, and what it named that nobody can guess again.
 */
export function clearedText(
  toolName: string,
  sizeTokens: number,
  number: string | null = null,
  names: readonly string[] = [],
): string {
  const what = toolName === '' ? 'tool result' : `result of ${toolName}`
  const named = names.length === 0 ? '' : `; it named ${names.join(', ')}`
  return `[cleared: ${what}, ${sizeTokens} tokens${numberInMark(number)}${named}]`
}

/**
 * The whole paths, addresses and ids that a result names, the first and the last of them: no later step can guess them. A line of
 * names in the place of a small result would be most of what it was.
 */
export function* unguessableNames(text: string, sizeTokens: number): Pausable<readonly string[]> {
  const most = Math.min(NAMES_MAX, Math.floor(sizeTokens / TOKENS_PER_NAME))
  if (most === 0) return []
  const names = new Set<string>()
  for (const thing of thingsInSteps(lookedAt(text))) {
    if (thing === null) yield
    else if (thing.name.length <= NAME_CHARS_MAX && isUnguessable(thing.name)) names.add(thing.name)
  }
  const all = [...names]
  return all.length <= most
    ? all
    : [...all.slice(0, Math.ceil(most / 2)), ...all.slice(all.length - Math.floor(most / 2))]
}

// --- internal ---

/** Smaller results are hardly larger than the line that stands in their place. */
const CLEARED_TOKENS_MIN = 64

/** So many replies later a result counts for half as much again. */
const AGE_REPLIES = 10

/** How much sooner a result goes of whose file a later one tells. */
const FOLLOWED_WEIGHT = 4

/** About two dozen tokens, beside a dozen for the tool and the size. */
const NAMES_MAX = 4

/** A result of so many tokens warrants one name. */
const TOKENS_PER_NAME = 400

const NAME_CHARS_MAX = 80
