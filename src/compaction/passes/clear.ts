import { matchesGlob } from '../../profiles/glob.ts'
import type { Pausable } from '../../json/source.ts'
import { numberInMark } from '../history/message-numbers.ts'
import { lookedAt } from '../history/read-message.ts'
import { type Rounds, toolNameOf } from '../history/history.ts'
import { isUnguessable, thingsInSteps } from '../history/specific-names.ts'

// Clearing: a tool result becomes a short placeholder. A compaction clears as many results as it takes to come down to its
// target, those first that are missed least, and puts those back for which there is room in the end (`plan/edit-by-worth.ts`).
// The newest `clear.keep_results` stay while something else can go, and those of `clear.except_tools` stay.

/** Whether a message is a result, and a profile lets those of its tool be cleared. */
export function mayBeCleared(rounds: Rounds, exceptTools: readonly string[], index: number): boolean {
  if (rounds.messages[index]?.facts.role !== 'tool') return false
  if (exceptTools.length === 0) return true
  const tool = toolNameOf(rounds, index)
  return !exceptTools.some((pattern) => matchesGlob(pattern, tool))
}

/** Where the newest so many results before `point` begin. */
export function newestResultsFrom(messages: Rounds['messages'], point: number, count: number): number {
  let left = count
  let from = point
  for (let index = point - 1; index >= 0 && left > 0; index -= 1) {
    if (messages[index]?.facts.role !== 'tool') continue
    from = index
    left -= 1
  }
  return from
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

/** About two dozen tokens, beside a dozen for the tool and the size. */
const NAMES_MAX = 4

/** A result of so many tokens warrants one name. */
const TOKENS_PER_NAME = 400

const NAME_CHARS_MAX = 80
