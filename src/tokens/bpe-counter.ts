import { finish, type Steps } from '../json/source.ts'
import { InvariantError } from '../errors.ts'
import { countShort, mergeBytes } from './byte-pairs.ts'
import {
  blanksState,
  type Cut,
  endsAfter,
  endsBefore,
  grammarOf,
  isWord,
  type PieceGrammar,
  startState,
} from './piece-grammar.ts'
import { noRank, type RankFile, type RankOf, readRanks } from './rank-table.ts'
import { classCount, classOf, knownClasses } from './character-classes.ts'

/** Counts tokens, exactly as the encoding's own encoder would; names of special tokens are ordinary text. */
export type TokenCounter = {
  /** The number of tokens of a text, in one go. */
  readonly count: (text: string) => number
  /** The same, pausing after about 32 kB of text, wherever they stand. */
  readonly countSteps: (text: string) => Steps<number>
}

/** Text counted between two pauses, in UTF-16 units: about two milliseconds. */
const pauseUnits = 32_768

/** Pieces up to this length are merged pair by pair, which is the faster way for a word, and remembered. In UTF-16 units. */
const shortUnits = 48

/** Pieces above this length are merged in blocks, pausing in between. In UTF-16 units. */
const longUnits = 2048

/** Pieces remembered with their counts: 16,384 of at most 48 units are 2 MB at the very most. */
const rememberedMax = 16_384

/**
 * A counter over one of js-tiktoken's rank files, in one go. Throws what `vocabularySteps` and `counterOver` throw.
 *
 * @internal exported for tests
 */
export function createTokenCounter(file: RankFile, cut: Cut = 'own'): TokenCounter {
  return counterOver(finish(vocabularySteps(file)), cut)
}

/** What is read of a rank file, for every way to cut text. */
export type Vocabulary = {
  readonly pattern: string
  readonly rankOf: RankOf
  /** Short pieces with their counts: the same however the text around them is cut. */
  readonly remembered: Map<string, number>
}

/** In steps: reading a rank file takes tens of milliseconds. */
export function* vocabularySteps(file: RankFile): Steps<Vocabulary> {
  return { pattern: file.pat_str, rankOf: yield* readRanks(file), remembered: new Map() }
}

/** Throws an InvariantError if the file splits text by a pattern that is not known here, or not in this cut. */
export function counterOver({ pattern, rankOf, remembered }: Vocabulary, cut: Cut): TokenCounter {
  const grammar = grammarOf(pattern, cut) ?? refuse()

  function* countSteps(text: string): Steps<number> {
    const pieces = scanPieces(text, grammar)
    let tokens = 0
    let pausedAt = 0
    for (;;) {
      const found = pieces.step()
      if (found === 'end') return tokens
      if (found === 'more') {
        yield
        continue
      }
      const { start, end } = pieces
      tokens +=
        end - start > longUnits ? yield* longPieceTokens(text, start, end, rankOf) : countPiece(text, pieces)
      if (end - pausedAt >= pauseUnits) {
        pausedAt = end
        yield
      }
    }
  }

  function countPiece(
    text: string,
    { start, end, ascii }: { start: number; end: number; ascii: boolean },
  ): number {
    // An ASCII piece is its own bytes, and most of them are a token.
    if (ascii && rankOf(text, start, end) !== noRank) return 1
    const isShort = end - start <= shortUnits
    const piece = text.slice(start, end)
    const known = isShort ? remembered.get(piece) : undefined
    if (known !== undefined) return known
    const bytes = ascii ? piece : utf8Bytes(piece, 0, piece.length)
    const isToken = !ascii && rankOf(bytes, 0, bytes.length) !== noRank
    if (!isShort) return isToken ? 1 : mergeBytes(bytes, rankOf).length
    const count = isToken ? 1 : countShort(bytes, rankOf)
    // Cleared when full: simpler than evicting, and common words are back at once.
    if (remembered.size >= rememberedMax) remembered.clear()
    remembered.set(detached(piece), count)
    return count
  }

  return { count: (text) => finish(countSteps(text)), countSteps }
}

/** Bytes merged at once: few enough to stay in the processor's cache and to let other work run in between. */
const blockBytesDefault = 8192

/**
 * How many tokens a piece of any length has, block by block, in bounded memory.
 *
 * A block merged by itself is wrong near its end, where tokens may reach over it. So the next block starts at a token end
 * well before that, and the seam is checked. Why that is exact: a row of tokens is what merging the whole leaves if and only
 * if any two neighbours are what merging those two alone leaves, since a merge over a seam depends on nothing but the two
 * tokens that it would break. Where the next block begins with the very token that the block before had there, any two
 * neighbours of the joined row stand side by side in one of the two blocks.
 *
 * @internal exported for tests
 */
export function* longPieceTokens(
  text: string,
  start: number,
  end: number,
  rankOf: RankOf,
  blockBytes = blockBytesDefault,
): Steps<number> {
  // The block to be cut, at the front, and what may be the next one.
  let bytes = ''
  let unit = start
  let tokens = 0
  let tokenEnds: readonly number[] | null = null
  for (;;) {
    while (bytes.length < 2 * blockBytes && unit < end) {
      let stop = Math.min(end, unit + unitsReadAtOnce)
      if (stop < end && isHighSurrogate(text.charCodeAt(stop - 1))) stop -= 1
      bytes += utf8Bytes(text, unit, stop)
      unit = stop
    }
    tokenEnds ??= mergeBytes(bytes.slice(0, blockBytes), rankOf)
    if (bytes.length <= blockBytes) return tokens + tokenEnds.length
    yield
    const seam = findSeam(bytes, tokenEnds, blockBytes, rankOf)
    // Not seen with real ranks. A larger block is slower and right all the same.
    if (seam === null) return yield* longPieceTokens(text, start, end, rankOf, 2 * blockBytes)
    tokens += seam.tokensBefore
    tokenEnds = seam.tokenEnds
    bytes = bytes.slice(seam.at)
  }
}

/**
 * The UTF-8 bytes of a range of a text, one character a byte, as `TextEncoder` would make them: a lone surrogate becomes
 * U+FFFD. Written out because the pure folders have no `TextEncoder`.
 */
function utf8Bytes(text: string, start: number, end: number): string {
  const bytes: number[] = []
  for (let index = start; index < end; index++) {
    let point = text.charCodeAt(index)
    if (point >= 0xd800 && point <= 0xdfff) {
      const pair = isHighSurrogate(point) && index + 1 < end ? (text.codePointAt(index) ?? 0) : 0
      point = pair > 0xffff ? pair : 0xfffd
      if (pair > 0xffff) index += 1
    }
    if (point < 0x80) bytes.push(point)
    else {
      if (point < 0x800) bytes.push(0xc0 | (point >> 6))
      else {
        if (point < 0x1_0000) bytes.push(0xe0 | (point >> 12))
        else bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 0x3f))
        bytes.push(0x80 | ((point >> 6) & 0x3f))
      }
      bytes.push(0x80 | (point & 0x3f))
    }
  }
  // Spreading would walk the array by its iterator, three times slower.
  return Reflect.apply(String.fromCharCode, null, bytes)
}

/** Cuts a text into the pieces in which an encoding merges bytes. One scanner reads one text, piece by piece. */
type PieceScanner = {
  /** Where the current piece starts and ends, in UTF-16 units. */
  start: number
  end: number
  /** False if the piece may hold a character above U+007F. */
  ascii: boolean
  /**
   * Moves to the next piece, or does a bounded part of that. `piece`: there is one; `more`: call again, the piece is long;
   * `end`: there is no further one.
   */
  readonly step: () => 'piece' | 'more' | 'end'
}

/** Characters read at most in one `step`; a bound on how long a piece can hold up others. */
const stepCharacters = 32_768

const apostrophe = 0x27

/** @internal exported for tests. */
export function scanPieces(text: string, grammar: PieceGrammar): PieceScanner {
  const { next, ends } = grammar
  const length = text.length
  // Where reading goes on inside a piece, and in which state; `startState` where no piece is begun.
  let position = 0
  let state = startState
  let seenUnits = 0

  const scanner: PieceScanner = {
    start: 0,
    end: 0,
    ascii: true,
    step: () => {
      if (state === startState) {
        if (scanner.end >= length) return 'end'
        scanner.start = scanner.end
        position = scanner.end
        seenUnits = 0
        if (grammar.contractions === 'apart') {
          const contracted = contractionLength(text, position)
          if (contracted > 0) return pieceUpTo(position + contracted)
        }
      }
      const stop = Math.min(length, position + stepCharacters)
      let end = scanner.end
      while (position < stop) {
        const unit = text.charCodeAt(position)
        let width = 1
        let characterClass = knownClasses[unit] ?? 0
        // Surrogates are never entered in the table of code units: each is looked at with its neighbour.
        if (characterClass === 0) {
          const codePoint = text.codePointAt(position) ?? unit
          if (codePoint > 0xffff) width = 2
          characterClass = classOf(codePoint)
        }
        const following = next[state * classCount + characterClass] ?? 0
        if (following === 0) return pieceUpTo(end)
        state = following
        seenUnits |= unit
        const ending = ends[state]
        if (ending === endsAfter) end = position + width
        else if (ending === endsBefore) end = position
        position += width
      }
      scanner.end = end
      if (position < length) return 'more'
      return pieceUpTo(state === blanksState ? length : end)
    },
  }

  function pieceUpTo(end: number): 'piece' {
    const contracted = grammar.contractions === 'attached' && isWord(state) ? contractionLength(text, end) : 0
    scanner.end = end + contracted
    scanner.ascii = seenUnits < 0x80
    state = startState
    return 'piece'
  }

  return scanner
}

// --- internal ---

function refuse(): never {
  throw new InvariantError('the rank file splits text by an unknown pattern')
}

/** A copy that does not keep the text alive that it was cut from, as an engine's slice of 13 or more characters does. */
function detached(piece: string): string {
  const units: number[] = []
  for (let index = 0; index < piece.length; index++) units.push(piece.charCodeAt(index))
  return String.fromCharCode(...units)
}

// Bytes become arguments of one call, which are laid on the stack. Above one, or a pair of surrogates would never be read.
const unitsReadAtOnce = 1024

/** How far into a block the seam is looked for: near the end first, as what stands behind it is merged twice. */
const seamShares = [15 / 16, 3 / 4, 1 / 2]

type Seam = { readonly at: number; readonly tokensBefore: number; readonly tokenEnds: readonly number[] }

function findSeam(
  bytes: string,
  tokenEnds: readonly number[],
  blockBytes: number,
  rankOf: RankOf,
): Seam | null {
  const block = bytes.slice(0, blockBytes)
  for (const share of seamShares) {
    const tokensBefore = tokenEnds.findLastIndex((tokenEnd) => tokenEnd <= share * blockBytes) + 1
    const at = tokenEnds[tokensBefore - 1]
    const tokenEnd = tokenEnds[tokensBefore]
    if (at === undefined || tokenEnd === undefined) continue
    const next = bytes.slice(at, at + blockBytes)
    // One character repeated for megabytes is the likeliest long piece: all its blocks are alike.
    const nextEnds = next === block ? tokenEnds : mergeBytes(next, rankOf)
    const nextEnd = nextEnds[0]
    if (nextEnd !== undefined && at + nextEnd === tokenEnd) return { at, tokensBefore, tokenEnds: nextEnds }
  }
  return null
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Length of the contraction that stands at `at` (`'s`, `'LL` …), 0 where there is none. ASCII only, as in the patterns. */
function contractionLength(text: string, at: number): number {
  if (text.charCodeAt(at) !== apostrophe) return 0
  const first = text[at + 1]?.toLowerCase() ?? ''
  if (first === 's' || first === 't' || first === 'm' || first === 'd') return 2
  const both = first + (text[at + 2]?.toLowerCase() ?? '')
  return both === 're' || both === 've' || both === 'll' ? 3 : 0
}
