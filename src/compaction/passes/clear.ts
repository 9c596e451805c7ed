import type { Steps } from '../../conversation/source.ts'
import { numberInMark } from '../../subject/message-numbers.ts'
import { lookedAt } from '../../subject/looked-at.ts'
import { isUnguessable, wordsIn } from '../../subject/things.ts'

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

/** The whole paths, addresses and ids that a result names, the first and the last of them: no later step can guess them. */
export function* unguessableNames(text: string): Steps<readonly string[]> {
  const names = new Set<string>()
  let words = 0
  for (const thing of wordsIn(lookedAt(text))) {
    words += 1
    if (words % WORDS_PER_STEP === 0) yield
    if (thing === null || thing.name.length > NAME_CHARS_MAX) continue
    if (isUnguessable(thing.name)) names.add(thing.name)
  }
  const all = [...names]
  return all.length <= 2 * NAMES_AT_AN_END
    ? all
    : [...all.slice(0, NAMES_AT_AN_END), ...all.slice(-NAMES_AT_AN_END)]
}

// --- internal ---

/** About two dozen tokens, beside a dozen for the tool and the size. */
const NAMES_AT_AN_END = 2
const NAME_CHARS_MAX = 80

/** Words between two pauses: about a millisecond. */
const WORDS_PER_STEP = 2_000
