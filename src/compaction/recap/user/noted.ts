import type { Steps } from '../../../conversation/source.ts'
import type { MadeCache } from '../../made-cache.ts'
import { sumOf } from '../../size-sums.ts'
import { isTalk, replyAt, type Subject } from '../../subject.ts'
import { columnsOf } from './forms/forms.ts'
import wordLists from './forms/word-lists.json' with { type: 'json' }
import { evened, wordCount } from './forms/words.ts'
import { replyText } from './heard.ts'

/**
 * How much the reply to each of these messages looks like a word of assent, from 0 to 1: "Understood." Who lays down a
 * rule is told so, and mostly in short; where an assistant begins every reply in that way it says nothing. By the
 * message's index.
 */
export function* notedShares(
  subject: Subject,
  said: readonly number[],
  folded: ReadonlySet<number>,
  cache: MadeCache,
): Steps<ReadonlyMap<number, number>> {
  const replied = said.filter((index) => folded.has(index + 1) && isTalk(subject, index + 1))
  const noted: number[] = []
  for (const index of replied) {
    if (yield* isNotedIn(subject, index + 1, cache)) noted.push(index)
    yield
  }
  const share = Math.max(0, 1 - (noted.length - 1) / Math.max(1, replied.length * COMMON_SHARE))
  const sizeOf = (index: number): number => {
    const { start, end } = replyAt(subject, index + 1)
    return sumOf(subject.sizes, start, end)
  }
  const mean = replied.reduce((sum, index) => sum + sizeOf(index), 0) / Math.max(1, replied.length)
  const short = replied.filter((index) => sizeOf(index) <= Math.min(SHORT_TOKENS, mean * SHORT_SHARE))
  return new Map([
    ...noted.map((index) => [index, share] as const),
    ...short.map((index) => [index, 1] as const),
  ])
}

/**
 * Whether a reply begins with a word of assent, or with a sentence of a few words, whatever the language.
 *
 * @internal exported for tests
 */
export function beginsNoting(reply: string): boolean {
  const beginning = evened(reply.slice(0, LOOKED_AT_CHARS)).replace(/^[\s*_#>"“]+/, '')
  const clause = /^[^.!,;:…。！，、؛،।\n—–-]*/u.exec(beginning)?.[0] ?? ''
  if (noting.has(clause.trim())) return true
  const mark = beginning.slice(clause.length, clause.length + 1)
  return /[.!。！।]/u.test(mark) && /\p{L}/u.test(clause) && wordCount(clause) <= SHORT_WORDS
}

// --- internal ---

/** Where so many replies begin so, it is a habit. */
const COMMON_SHARE = 0.5

/** So short a reply, beside the others, is no more than a word of assent, whatever it says. */
const SHORT_TOKENS = 60
const SHORT_SHARE = 0.4

const LOOKED_AT_CHARS = 80
const SHORT_WORDS = 3

/** What one says who takes note of something. */
const noting: ReadonlySet<string> = new Set(columnsOf(wordLists.assents).map(evened))

/** Found once for each reply. */
function* isNotedIn(subject: Subject, index: number, cache: MadeCache): Steps<boolean> {
  const { start, end } = replyAt(subject, index)
  const hashes = subject.messages.slice(start, end).map(({ facts }) => facts.hash)
  const key = `noted:${subject.memorySpace}:${hashes.join(' ')}`
  const known = cache.get(key)?.text ?? null
  if (known !== null) return known === 'yes'
  const isNoted = beginsNoting(yield* replyText(subject, index))
  cache.set(key, { text: isNoted ? 'yes' : 'no', tokens: 0, how: null })
  return isNoted
}
