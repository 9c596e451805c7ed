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

/**
 * The whole paths, addresses and ids that a result names, the first and the last of them: no later step can guess them. A line of
 * names in the place of a small result would be most of what it was.
 */
export function* unguessableNames(text: string, sizeTokens: number): Steps<readonly string[]> {
  const most = Math.min(NAMES_MAX, Math.floor(sizeTokens / TOKENS_PER_NAME))
  if (most === 0) return []
  const names = new Set<string>()
  let words = 0
  for (const thing of wordsIn(lookedAt(text))) {
    words += 1
    if (words % WORDS_PER_STEP === 0) yield
    if (thing === null || thing.name.length > NAME_CHARS_MAX) continue
    if (isUnguessable(thing.name)) names.add(thing.name)
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

/** Words between two pauses: about a millisecond. */
const WORDS_PER_STEP = 2_000
