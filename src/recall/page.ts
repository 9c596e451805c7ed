import type { CountTokens, History } from '../compaction/history/history.ts'
import { atWhole } from '../compaction/passes/clip.ts'
import type { Pausable } from '../json/source.ts'
import { ownLine } from './segments.ts'

/** An answer of any length, made only as far as it is looked at. */
export type RecallAnswer = {
  /** The same text each time, in pieces; without one it pauses. It ends with a line break. */
  readonly pieces: Pieces
  /** Whether a line says that this was all. */
  readonly hasEnd: boolean
}

export type Pieces = Generator<string | void, void, void>

/**
 * As much of an answer as fits, from the character `offset` on, and a last line that says how to go on or that this was all. So pages joined
 * are the answer, whatever their sizes. A page ends with a line where one ends nearby, and never within a character.
 */
export function* pageOf(
  { pieces, hasEnd }: RecallAnswer,
  { count, countSteps }: Pick<History, 'count' | 'countSteps'>,
  offset: number,
  tokensMax: number,
): Pausable<string> {
  const roomTokens = Math.min(tokensMax, PAGE_TOKENS_MAX)
  const { text, start, isRest } = yield* gathered(pieces, offset, roomTokens * GATHERED_CHARS)

  const lastLine = (end: number): string => {
    if (isRest && end === text.length) return hasEnd ? ownLine('that is all') : ''
    const cut = endsLine(text, end) ? '' : 'cut within a line; '
    return ownLine(`${cut}go on with the same arguments and "offset":${start + end}`)
  }
  for (let end = isRest ? text.length : cutBefore(text, text.length); ;) {
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
    end = cutBefore(text, Math.floor(end * Math.max(0, Math.min(share, SHRINK_MIN))))
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

/** At most so many characters from the offset on. */
function* gathered(pieces: Pieces, offset: number, charsMax: number) {
  let made = 0
  let text = ''
  for (const piece of pieces) {
    yield
    if (typeof piece !== 'string') continue
    text += piece.slice(Math.max(0, offset - made))
    made += piece.length
    if (text.length > charsMax) break
  }
  const isRest = text.length <= charsMax
  const begin = /^[\udc00-\udfff]/.test(text) ? 1 : 0
  return {
    text: text.slice(begin, isRest ? text.length : atWhole(text, charsMax)),
    /** The character that the text begins with: the one behind the offset where that lies within a pair. */
    start: Math.min(offset, made) + begin,
    /** Whether nothing follows the text. */
    isRest,
  }
}

/** Where a page of at most so many characters ends. */
function cutBefore(text: string, chars: number): number {
  const lineEnd = chars <= 0 ? 0 : text.lastIndexOf('\n', chars - 1) + 1
  return lineEnd >= Math.max(PAGE_CHARS_MIN, chars * (1 - LINE_END_SHARE)) ? lineEnd : atWhole(text, chars)
}

function endsLine(text: string, end: number): boolean {
  return end === 0 || text.charAt(end - 1) === '\n'
}

function noRoom(tokensMax: number, count: CountTokens): string {
  const lines = [ownLine('there is too little room left to show any of it'), ownLine('no room')]
  return lines.find((line) => count(line) <= tokensMax) ?? ''
}
