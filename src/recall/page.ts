import type { CountSteps, CountTokens } from '../compaction/history/subject.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { Steps } from '../json/source.ts'
import { ownLine } from './segments.ts'

/** An answer of any length, made only as far as it is looked at. */
export type RecallAnswer = {
  /** The same text each time, in pieces; an empty one is a pause. It ends with a line break. */
  readonly pieces: Generator<string, void, void>
  /** The arguments of the call that reads on at this character, up to which it was made; null: the same with an offset. */
  readonly goOn: (offset: number) => JsonObject | null
  /** Whether a line says that this was all. */
  readonly hasEnd: boolean
}

/** Of an answer, what is to be shown. */
export type PageOptions = {
  /** Where it begins, in characters. */
  readonly offset: number
  readonly tokensMax: number
  readonly count: CountTokens
  readonly countSteps: CountSteps
}

/**
 * As much of an answer as fits, from a character on, and a last line that says how to go on or that this was all. So pages joined
 * are the answer, whatever their sizes. A page ends with a line where one ends nearby, and never within a character.
 */
export function* pageOf(
  answer: RecallAnswer,
  { offset, tokensMax, count, countSteps }: PageOptions,
): Steps<string> {
  const roomTokens = Math.min(tokensMax, PAGE_TOKENS_MAX)
  const { text, start, isRest } = yield* gathered(answer.pieces, offset, roomTokens * GATHERED_CHARS)

  const lastLine = (end: number): string => {
    if (isRest && end === text.length) return answer.hasEnd ? ownLine('that is all') : ''
    const cut = endsLine(text, end) ? '' : 'cut within a line; '
    const goOn = answer.goOn(start + end)
    const exact = goOn === null ? null : ownLine(`${cut}go on with ${JSON.stringify(goOn)}`)
    if (exact !== null && count(exact) <= roomTokens * LAST_LINE_SHARE) return exact
    return ownLine(`${cut}go on with the same arguments and "offset":${start + end}`)
  }
  let end = isRest ? text.length : cutBefore(text, text.length)
  for (;;) {
    const isAll = isRest && end === text.length
    if (!isAll && end < PAGE_CHARS_MIN) return noRoom(tokensMax, count)
    const page = text.slice(0, end) + (endsLine(text, end) ? '' : '\n') + lastLine(end)
    const tokens = yield* countSteps(page)
    if (tokens <= roomTokens) return page
    if (end === 0) return noRoom(tokensMax, count)
    yield
    // What stays is measured against what the text itself may take, or a long last line would be weighed as text.
    const lineTokens = count(lastLine(Math.max(0, end - 1)))
    const share = (roomTokens - lineTokens) / Math.max(1, tokens - lineTokens)
    const aim = Math.floor(end * Math.max(0, Math.min(share, SHRINK_MIN)))
    end = cutBefore(text, aim)
  }
}

/** Work within an answer that is made, whose pauses are pauses of the answer. */
export function* pausing<Result>(steps: Steps<Result>): Generator<string, Result, void> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    yield ''
  }
}

// --- internal ---

/**
 * However large the window, no page takes more: counting blocks, and a model that wants so much reads on.
 */
const PAGE_TOKENS_MAX = 8_192

/** Characters that are made for each token of a page. Text has three or four; of what has more, pages are shorter. */
const GATHERED_CHARS = 6

/** A page with less of the text on it says nothing. */
const PAGE_CHARS_MIN = 40

/** Each try is smaller by at least this. */
const SHRINK_MIN = 0.97

/** A page ends with a line if that costs at most this share of it. */
const LINE_END_SHARE = 0.3

/** The last line names all arguments where that takes no more than this share of a page. */
const LAST_LINE_SHARE = 0.4

type Gathered = {
  readonly text: string
  /** The character that the text begins with: before the offset where that lies within a pair. */
  readonly start: number
  /** Whether nothing follows the text. */
  readonly isRest: boolean
}

/** At most so many characters from the offset on. */
function* gathered(pieces: RecallAnswer['pieces'], offset: number, charsMax: number): Steps<Gathered> {
  let made = 0
  let start = offset
  let text = ''
  let before = ''
  for (const piece of pieces) {
    yield
    if (piece === '') continue
    const from = Math.max(0, offset - made)
    made += piece.length
    if (from >= piece.length) {
      before = piece
      continue
    }
    if (text === '') {
      const lead = from > 0 ? piece.charAt(from - 1) : before.slice(-1)
      if (isPair(lead, piece.charAt(from))) {
        text = lead
        start -= 1
      }
    }
    text += piece.slice(from)
    if (text.length > charsMax) return { text: text.slice(0, wholeEnd(text, charsMax)), start, isRest: false }
  }
  return { text, start: Math.min(start, made), isRest: true }
}

/** Whether these are the halves of one character. */
function isPair(lead: string, trail: string): boolean {
  return /^[\ud800-\udbff]$/.test(lead) && /^[\udc00-\udfff]$/.test(trail)
}

/** An end that splits no character. */
function wholeEnd(text: string, end: number): number {
  return isPair(text.charAt(end - 1), text.charAt(end)) ? end - 1 : end
}

/** Where a page of at most so many characters ends. */
function cutBefore(text: string, chars: number): number {
  const lineEnd = chars <= 0 ? 0 : text.lastIndexOf('\n', chars - 1) + 1
  return lineEnd >= Math.max(PAGE_CHARS_MIN, chars * (1 - LINE_END_SHARE)) ? lineEnd : wholeEnd(text, chars)
}

function endsLine(text: string, end: number): boolean {
  return end === 0 || text.charAt(end - 1) === '\n'
}

function noRoom(tokensMax: number, count: CountTokens): string {
  const lines = [ownLine('there is too little room left to show any of it'), ownLine('no room')]
  return lines.find((line) => count(line) <= tokensMax) ?? ''
}
