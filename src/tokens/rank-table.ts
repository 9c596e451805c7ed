import { InvariantError } from '../errors.ts'
import type { Pausable } from '../json/source.ts'

/** A rank file of js-tiktoken, as its modules export it. */
export type RankFile = { readonly pat_str: string; readonly bpe_ranks: string }

/**
 * The rank of the bytes from `start` up to `end`, `noRank` where they are no token. Bytes stand in strings, one character a
 * byte.
 */
export type RankOf = (bytes: string, start: number, end: number) => number

/** Above every rank, so that the lowest can be looked for without a special case. */
export const noRank = 0x7fff_ffff

/**
 * Characters of a rank file that are read between two pauses: about a millisecond, before the code is warm.
 *
 * @internal exported for tests
 */
export const RANKS_STEP_CHARACTERS = 16_384

/**
 * The table of a rank file, in steps. Tokens are kept as bytes in a few arrays and not as 200,000 strings, which would
 * take the collector longer to walk than the file takes to read. Throws an InvariantError for a file that does not count its
 * tokens from 0 in one row, as those in use do.
 */
export function* readRanks({ bpe_ranks: text }: RankFile): Pausable<RankOf> {
  if (!text.startsWith(ROW_START) || text.includes('\n'))
    throw new InvariantError('the rank file has another form')
  const tokensMax = countBlanks(text)
  yield
  const bytesOfAll = new Uint8Array(Math.ceil((text.length * 3) / 4))
  /** Where the bytes of each token end; token n has rank n - 1. */
  const ends = new Int32Array(tokensMax)
  yield
  // Half empty at least, so that a search is short. Zero: nothing stands there.
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * tokensMax)))
  const mask = slots.length - 1
  // Half of all look-ups are for two bytes, before anything has been merged.
  const ranksOfTwo = new Int32Array(0x1_0000).fill(noRank)
  yield
  let tokenBytesMax = 0
  let pausedAt = 0
  let token = 0
  for (let start = ROW_START.length; start < text.length;) {
    const found = text.indexOf(' ', start)
    const end = found === -1 ? text.length : found
    token += 1
    const from = ends[token - 1] ?? 0
    const until = writeBase64(text, start, end, bytesOfAll, from)
    ends[token] = until
    tokenBytesMax = Math.max(tokenBytesMax, until - from)
    if (until - from === 2)
      ranksOfTwo[(bytesOfAll[from] ?? 0) * 256 + (bytesOfAll[from + 1] ?? 0)] = token - 1
    let hash = hashSeed
    for (let index = from; index < until; index++)
      hash = Math.imul(hash ^ (bytesOfAll[index] ?? 0), hashPrime)
    let slot = (hash ^ (hash >>> 15)) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = token
    start = end + 1
    if (end - pausedAt < RANKS_STEP_CHARACTERS) continue
    pausedAt = end
    yield
  }

  function isToken(candidate: number, bytes: string, start: number, end: number): boolean {
    const from = ends[candidate - 1] ?? 0
    if ((ends[candidate] ?? 0) - from !== end - start) return false
    for (let index = start; index < end; index++)
      if (bytesOfAll[from + index - start] !== bytes.charCodeAt(index)) return false
    return true
  }

  return function rankOf(bytes, start, end) {
    const length = end - start
    if (length === 2) return ranksOfTwo[bytes.charCodeAt(start) * 256 + bytes.charCodeAt(start + 1)] ?? noRank
    if (length > tokenBytesMax) return noRank
    let hash = hashSeed
    for (let index = start; index < end; index++) hash = Math.imul(hash ^ bytes.charCodeAt(index), hashPrime)
    // The upper bits are stirred into the lower ones, which choose the slot.
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const candidate = slots[slot] ?? 0
      if (candidate === 0) return noRank
      if (isToken(candidate, bytes, start, end)) return candidate - 1
    }
  }
}

// --- internal ---

const ROW_START = '! 0 '

// FNV-1a: good enough for short runs of bytes, and one multiplication each.
const hashSeed = 0x811c_9dc5 | 0
const hashPrime = 0x0100_0193

function countBlanks(text: string): number {
  let count = 0
  for (let at = text.indexOf(' '); at !== -1; at = text.indexOf(' ', at + 1)) count += 1
  return count
}

const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const base64Values = new Uint8Array(128)
for (let value = 0; value < base64Alphabet.length; value++)
  base64Values[base64Alphabet.charCodeAt(value)] = value

/** Writes the bytes that stand in base64 from `start` up to `end` into `bytes` at `at`; where writing ended. */
function writeBase64(text: string, start: number, end: number, bytes: Uint8Array, at: number): number {
  let length = at
  let bits = 0
  let bitCount = 0
  for (let index = start; index < end; index++) {
    const unit = text.charCodeAt(index)
    if (unit === 0x3d) break
    bits = ((bits << 6) | (base64Values[unit] ?? 0)) & 0xffff
    bitCount += 6
    if (bitCount >= 8) {
      bitCount -= 8
      bytes[length++] = (bits >> bitCount) & 0xff
    }
  }
  return length
}
