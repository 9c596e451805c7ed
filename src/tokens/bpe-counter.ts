import { runAtOnce, type Pausable } from '../json/source.ts'
import { noRank, type RankFile, type RankOf, readRanks } from './rank-table.ts'

export type TokenCounter = ReturnType<typeof counterOver>

/**
 * How text is cut before it is merged. `own`: as the rank file says; `digits`: the same with each digit a piece of its own;
 * `apart`: signs and line ends, too, stand apart from words and from each other, as in SentencePiece vocabularies.
 */
export type Cut = 'own' | 'digits' | 'apart'

/** What is read of a rank file, for every way to cut text. */
export type Vocabulary = {
  readonly pattern: string
  readonly rankOf: RankOf
  /** Short pieces with their counts: the same however the text around them is cut. */
  readonly remembered: Map<string, number>
}

/** In steps: reading a rank file takes tens of milliseconds. */
export function* vocabularySteps(file: RankFile): Pausable<Vocabulary> {
  return { pattern: file.pat_str, rankOf: yield* readRanks(file), remembered: new Map() }
}

/**
 * Counts tokens as the encoding's own encoder would; names of special tokens are ordinary text. Of a run without blanks or
 * signs that is longer than any word (256 characters) it counts about one more for each 256.
 */
export function counterOver({ pattern, rankOf, remembered }: Vocabulary, cut: Cut) {
  const nextPiece = new RegExp(patternOf(pattern, cut), 'uy')

  /**
   * A window of the text at a time, since a regular expression can neither pause nor read a run of any length. A piece
   * that reaches the window's end, or nearly, is read anew in the next window; one that fills a window is cut there.
   */
  function* countSteps(text: string): Pausable<number> {
    let tokens = 0
    for (let from = 0; from < text.length;) {
      const window = text.slice(from, cutAt(text, from + WINDOW_UNITS))
      const isLast = from + window.length === text.length
      const surelyUntil = isLast ? window.length : window.length - EDGE_UNITS
      let start = 0
      while (start < window.length) {
        nextPiece.lastIndex = start
        nextPiece.test(window)
        const end = nextPiece.lastIndex
        if (end > surelyUntil && start > 0) break
        const isLong = end - start > PART_UNITS
        tokens += isLong
          ? yield* countParts(text, from + start, from + end)
          : countPiece(text, from + start, from + end)
        start = end
      }
      from += start
      if (!isLast) yield
    }
    return tokens
  }

  /** Merging looks at each pair for each merge: the parts of a long piece are merged one by one. */
  function* countParts(text: string, start: number, end: number): Pausable<number> {
    let tokens = 0
    // One character repeated for megabytes is the likeliest long piece: all its parts are alike.
    let latest = ''
    let latestTokens = 0
    let pausedAt = start
    for (let at = start; at < end;) {
      // The piece's own end is no place to step back from: behind it all that is left may be half of a character.
      const partEnd = at + PART_UNITS < end ? cutAt(text, at + PART_UNITS) : end
      const part = text.slice(at, partEnd)
      if (part !== latest) latestTokens = countPiece(part, 0, part.length)
      latest = part
      tokens += latestTokens
      at = partEnd
      if (at - pausedAt < PAUSE_UNITS) continue
      pausedAt = at
      yield
    }
    return tokens
  }

  function countPiece(text: string, start: number, end: number): number {
    const isAscii = isAsciiIn(text, start, end)
    // An ASCII piece is its own bytes, and most of them are a token.
    if (isAscii && rankOf(text, start, end) !== noRank) return 1
    const piece = text.slice(start, end)
    const isShort = piece.length <= SHORT_UNITS
    const known = isShort ? remembered.get(piece) : undefined
    if (known !== undefined) return known
    const count = countMerged(isAscii ? piece : utf8Bytes(piece), rankOf)
    if (!isShort) return count
    // Cleared when full: simpler than evicting, and common words are back at once.
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    remembered.set(detached(piece), count)
    return count
  }

  return {
    /** The number of tokens of a text, in one go. */
    count: (text: string): number => runAtOnce(countSteps(text)),
    /** The same, pausing after about 16 kB of text, wherever they stand. */
    countSteps,
  }
}

// --- internal ---

/** Text that is cut in one go, in UTF-16 units: about a millisecond, and some ten where all of it has to be merged. */
const WINDOW_UNITS = 8_192

/** So near its end, a window does not tell what a piece would be beside what follows. */
const EDGE_UNITS = 512

/** What is merged at once. No word is longer, in any language. */
const PART_UNITS = 256

/** Of a long piece so much is merged between two pauses: each unit costs as many steps as a part has. */
const PAUSE_UNITS = 8_192

/** Pieces up to this length are remembered with their counts: 16,384 of them are 2 MB at the very most. */
const SHORT_UNITS = 48
const REMEMBERED_MAX = 16_384

const WORD = String.raw`(?:[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)`

function patternOf(pattern: string, cut: Cut): string {
  if (cut === 'apart') return String.raw` ?${WORD}|\p{N}| ?[^\s\p{L}\p{N}]+|\s*[\r\n]+|\s+(?!\S)|\s+`
  return cut === 'digits' ? pattern.replace(String.raw`\p{N}{1,3}`, String.raw`\p{N}`) : pattern
}

/** How many tokens byte-pair merging leaves of a run of bytes. */
function countMerged(bytes: string, rankOf: RankOf): number {
  if (rankOf(bytes, 0, bytes.length) !== noRank) return 1
  const starts: number[] = []
  const pairRanks: number[] = []
  for (let index = 0; index < bytes.length; index++) {
    starts.push(index)
    pairRanks.push(index + 2 <= bytes.length ? rankOf(bytes, index, index + 2) : noRank)
  }
  starts.push(bytes.length)

  // The rank of part `index` merged with the part behind it.
  const rankOfPair = (index: number): number => {
    const start = starts[index]
    const end = starts[index + 2]
    return start === undefined || end === undefined ? noRank : rankOf(bytes, start, end)
  }
  for (;;) {
    let lowest = noRank
    let at = 0
    for (let index = 0; index < pairRanks.length; index++) {
      const rank = pairRanks[index] ?? noRank
      if (rank < lowest) {
        lowest = rank
        at = index
      }
    }
    if (lowest === noRank) return pairRanks.length
    starts.splice(at + 1, 1)
    pairRanks.splice(at + 1, 1)
    pairRanks[at] = rankOfPair(at)
    if (at > 0) pairRanks[at - 1] = rankOfPair(at - 1)
  }
}

/** A place to cut a text at, or one unit before it: no half of a character. */
function cutAt(text: string, index: number): number {
  const unit = text.charCodeAt(index - 1)
  return index < text.length && unit >= 0xd800 && unit <= 0xdbff ? index - 1 : index
}

function isAsciiIn(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (text.charCodeAt(index) > 0x7f) return false
  return true
}

/**
 * The UTF-8 bytes of a text, one character a byte; a lone surrogate becomes U+FFFD. Written out because the pure folders have
 * no `TextEncoder`.
 */
function utf8Bytes(text: string): string {
  const bytes: number[] = []
  for (const character of text.toWellFormed()) {
    const point = character.codePointAt(0) ?? 0
    if (point < 0x80) bytes.push(point)
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), continuation(point))
    else if (point < 0x1_0000) bytes.push(0xe0 | (point >> 12), continuation(point >> 6), continuation(point))
    else
      bytes.push(
        0xf0 | (point >> 18),
        continuation(point >> 12),
        continuation(point >> 6),
        continuation(point),
      )
  }
  return String.fromCharCode(...bytes)
}

function continuation(bits: number): number {
  return 0x80 | (bits & 0x3f)
}

/** A copy that does not keep the text alive that it was cut from, as an engine's slice does. */
function detached(piece: string): string {
  return ` ${piece}`.slice(1)
}
