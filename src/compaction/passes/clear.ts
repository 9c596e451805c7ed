import type { Steps } from '../../json/source.ts'
import { numberInMark } from '../history/message-numbers.ts'
import { lookedAt } from '../history/read-message.ts'
import { isUnguessable, wordsIn } from '../history/things.ts'
import { cutHead, cutTail } from './clip.ts'

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

/** The share of a preview that its head takes: commands print what they are first and how they ended last. */
const HEAD_SHARE = 0.6

/**
 * A long text's head and tail, with a mark between them that states the original size in tokens and the name by which
 * all of it can be read back, null where it cannot; the text itself where that is no longer.
 */
export function previewText(
  text: string,
  sizeTokens: number,
  bounds: { readonly maxChars: number; readonly maxLines: number },
  number: string | null = null,
): string {
  const mark = `[preview: the middle of this result was left out; all of it was ${sizeTokens} tokens${numberInMark(number)}]`
  const chars = Math.max(0, bounds.maxChars - mark.length - BREAKS_CHARS)
  const lines = Math.max(0, bounds.maxLines - 1)
  const head = cutHead(text, Math.floor(chars * HEAD_SHARE), Math.ceil(lines * HEAD_SHARE))
  const tail = cutTail(
    text.slice(head.length),
    chars - Math.floor(chars * HEAD_SHARE),
    Math.floor(lines * (1 - HEAD_SHARE)),
  )
  const preview = [head, mark, tail].filter((piece) => piece !== '').join('\n')
  return preview.length < text.length ? preview : text
}

// --- internal ---

/** About two dozen tokens, beside a dozen for the tool and the size. */
const NAMES_MAX = 4

/** A result of so many tokens warrants one name. */
const TOKENS_PER_NAME = 400

const NAME_CHARS_MAX = 80

/** Words between two pauses: about a millisecond. */
const WORDS_PER_STEP = 2_000

/** The line breaks around the mark. */
const BREAKS_CHARS = 2
