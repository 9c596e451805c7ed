import { beginsAsCode, isCodeLine } from './code-line.ts'
import { columnsOf } from './forms/forms.ts'
import wordLists from './forms/word-lists.json' with { type: 'json' }

/** Where a sentence stands in a text. */
export type Sentence = { readonly start: number; readonly end: number }

/**
 * The sentences of a text that somebody wrote by hand, in their order: lines, cut where a sentence ends. Fenced code,
 * lines that look like code, data or a log, and what lies beyond the bounds are left out: nobody gives orders there.
 */
export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = []
  for (const line of linesOf(text)) {
    const written = text.slice(line.start, line.end)
    if (!hasLetter.test(written) || isCodeLine(written)) continue
    for (const { start, end } of writingIn(written)) {
      sentences.push({ start: line.start + start, end: line.start + end })
      if (sentences.length >= SENTENCES_MAX) return sentences
    }
  }
  return sentences
}

// --- internal ---

/** Nobody writes so many by hand in one message. */
const SENTENCES_MAX = 400

/** Of a longer text only the beginning and the end are looked at: the rest was pasted. */
const LOOKED_AT_CHARS = 40_000

/** A longer line is cut at the end of a sentence; where none ends in so many characters, they are data. */
const LINE_CHARS_MAX = 6000

/** A longer sentence is cut further: it is a list, or was written without full stops. */
const SENTENCE_CHARS_MAX = 360

const FENCE = '```'

/** The lines of a text, without what stands between two fences. A fence without another one is none, nor are two in one line. */
function* linesOf(text: string): Generator<Sentence, void, void> {
  let start = 0
  let lineEnd = -1
  for (let opening = text.indexOf(FENCE); opening !== -1;) {
    const closing = text.indexOf(FENCE, opening + FENCE.length)
    if (closing === -1) break
    // Looked for once for each line: a line may be megabytes long, and hold thousands of fences.
    if (lineEnd < opening) lineEnd = orEnd(text.indexOf('\n', opening), text)
    if (lineEnd < closing) {
      yield* linesWithin(text, start, opening)
      start = closing + FENCE.length
    }
    opening = text.indexOf(FENCE, closing + FENCE.length)
  }
  yield* linesWithin(text, start, text.length)
}

function orEnd(found: number, text: string): number {
  return found === -1 ? text.length : found
}

function* linesWithin(text: string, from: number, to: number): Generator<Sentence, void, void> {
  const half = LOOKED_AT_CHARS / 2
  for (let start = from; start < to;) {
    const lineEnd = Math.min(to, orEnd(text.indexOf('\n', start), text))
    const isLong = lineEnd - start > LINE_CHARS_MAX
    const written = isLong ? lastEnd(text, start) : lineEnd
    if (written !== null) yield { start, end: written }
    start = isLong ? (written ?? start + LINE_CHARS_MAX) : lineEnd + 1
    if (start > half && start < text.length - half) start = text.length - half
  }
}

/** Where the last sentence ends of those that begin a line which is too long; null where none does. */
function lastEnd(text: string, start: number): number | null {
  const within = text.slice(start, start + LINE_CHARS_MAX)
  let last: number | null = null
  for (const match of within.matchAll(sentenceEnd)) {
    const end = match.index + match[0].length
    if (isEnd(within, 0, match.index, end)) last = start + end
  }
  return last
}

/** Whether a sentence looks written by hand: mostly letters and the marks of sentences, and no row of a table. */
function isWriting(line: string): boolean {
  if (!hasLetter.test(line) || beginsAsCode(line) || isRow.test(line)) return false
  let other = 0
  let spaces = 0
  for (const character of line) {
    if (isSpace.test(character)) spaces += 1
    else if (!isWritten.test(character)) other += 1
  }
  return other <= Math.max(4, (line.length - spaces) * OTHER_SHARE_MAX)
}

/** Of the characters of a written sentence at most this share are neither letters nor the marks of sentences. */
const OTHER_SHARE_MAX = 0.2

/** Words with marks between them and no blanks. */
const isRow = /[^\s;,|][;,|][^\s;,|]+[;,|][^\s;,|]+[;,|]\S/

const hasLetter = /\p{L}/u
const isSpace = /\s/
const isWritten = /[\p{L}\p{M}.,!?'’"“”«»()\-–—:;、。，！？：；…¡¿`]/u

/** The sentences of a line; of what is no writing, that part which ends at a full stop: a log may follow in its line. */
function* writingIn(line: string): Generator<Sentence, void, void> {
  for (const { start, end } of cutsOf(line, isEnd)) {
    const sentence = line.slice(start, end)
    if (isWriting(sentence)) yield { start, end }
    else
      for (const part of cutsOf(sentence, () => true))
        if (isWriting(sentence.slice(part.start, part.end)))
          yield { start: start + part.start, end: start + part.end }
  }
}

function* cutsOf(line: string, isCut: typeof isEnd): Generator<Sentence, void, void> {
  let start = 0
  for (const match of line.matchAll(sentenceEnd)) {
    const end = match.index + match[0].length
    if (!isCut(line, start, match.index, end)) continue
    yield* shortened(line, start, end)
    start = end
  }
  yield* shortened(line, start, line.length)
}

/** What ends a sentence, with the quotation marks and brackets that close behind it. */
const sentenceEnd = /[.!?…]{1,4}["'”’)\]*_]{0,3}(?=\s)|[。！？؟।]{1,3}["'”’」』）]{0,2}/gu

const noSpaceNeeded = /[。！？؟।]/
const beginsSmall = /^\s+["'“(]?\p{Ll}/u

/** Whether a sentence ends there, and not a word that was shortened, or a number of a list. */
function isEnd(line: string, start: number, mark: number, end: number): boolean {
  if (noSpaceNeeded.test(line.charAt(mark)) || line.charAt(mark) !== '.' || end - mark > 1) return true
  const before = /\S{0,12}$/.exec(line.slice(Math.max(start, mark - 12), mark))?.[0] ?? ''
  if (/^(?:\p{L}|\d{1,3})$/u.test(before) || before.includes('.') || shortenings.has(before.toLowerCase()))
    return false
  return !beginsSmall.test(line.slice(end, end + 4)) || mark - start > SMALL_CHARS_MIN
}

/** Where nobody writes capitals, a sentence that is as long as this ends at a full stop. */
const SMALL_CHARS_MIN = 60

/** Words that end with a full stop within a sentence. */
const shortenings: ReadonlySet<string> = new Set(columnsOf(wordLists.shortenings))

/** A sentence without blanks around it; one that is too long in pieces that end between words. */
function* shortened(line: string, from: number, to: number): Generator<Sentence, void, void> {
  let start = from
  while (to - start > SENTENCE_CHARS_MAX) {
    const within = line.slice(start, start + SENTENCE_CHARS_MAX)
    const cut = lastCut(within)
    yield* trimmed(line, start, start + cut)
    start += cut
  }
  yield* trimmed(line, start, to)
}

/** Where a piece ends at best: behind a mark, else between two words, else where it has to. */
function lastCut(within: string): number {
  let cut = 0
  for (const match of within.matchAll(/[.!?;:,、，；：](?=\s|$)|[、，；：]/g)) cut = match.index + 1
  if (cut > within.length / 2) return cut
  const blank = within.lastIndexOf(' ')
  if (blank > within.length / 2) return blank
  // No half of a character is left behind.
  return /[\ud800-\udbff]$/.test(within) ? within.length - 1 : within.length
}

function* trimmed(line: string, from: number, to: number): Generator<Sentence, void, void> {
  const written = line.slice(from, to)
  const start = from + (written.length - written.trimStart().length)
  const end = from + written.trimEnd().length
  if (end > start) yield { start, end }
}
