import { finish, type Steps } from '../conversation/source.ts'
import { InvariantError } from '../errors.ts'
import { countShort, mergeBytes } from './byte-pairs.ts'
import { longPieceTokens, utf8Bytes } from './long-piece.ts'
import { grammarOf, type Cut } from './piece-grammar.ts'
import { scanPieces } from './piece-scanner.ts'
import { noRank, readRanks, type RankFile, type RankOf } from './rank-table.ts'

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
