/** A rank file of js-tiktoken, as its modules export it. */
export type RankFile = { readonly pat_str: string; readonly bpe_ranks: string }

/** Finds the rank of a run of bytes. Bytes stand in strings, one character a byte. */
export type RankTable = {
  /** The rank of the bytes from `start` up to `end`, `noRank` where they are no token. */
  readonly rankOf: (bytes: string, start: number, end: number) => number
  /** Whether the bytes as a whole are one token. */
  readonly has: (bytes: string) => boolean
}

/** Above every rank, so that the lowest can be looked for without a special case. */
export const noRank = 0x7fff_ffff

export function readRanks(file: RankFile): RankTable {
  const ranks = new Map<string, number>()
  for (const row of file.bpe_ranks.split('\n')) {
    // `! 100 IQ== Ig==`: the tokens have the ranks from 100 on.
    const [, offset, ...tokens] = row.split(' ')
    for (const [index, token] of tokens.entries()) ranks.set(fromBase64(token), Number(offset) + index)
  }

  // Half of all look-ups are for two bytes, before anything has been merged.
  const ranksOfTwo = new Int32Array(0x1_0000).fill(noRank)
  let tokenBytesMax = 0
  for (const [token, rank] of ranks) {
    tokenBytesMax = Math.max(tokenBytesMax, token.length)
    if (token.length === 2) ranksOfTwo[token.charCodeAt(0) * 256 + token.charCodeAt(1)] = rank
  }

  return {
    has: (bytes) => bytes.length <= tokenBytesMax && ranks.has(bytes),
    rankOf: (bytes, start, end) => {
      const length = end - start
      if (length === 2)
        return ranksOfTwo[bytes.charCodeAt(start) * 256 + bytes.charCodeAt(start + 1)] ?? noRank
      if (length > tokenBytesMax) return noRank
      return ranks.get(bytes.slice(start, end)) ?? noRank
    },
  }
}

// --- internal ---

const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const base64Values = new Uint8Array(128)
for (let value = 0; value < base64Alphabet.length; value++)
  base64Values[base64Alphabet.charCodeAt(value)] = value

function fromBase64(encoded: string): string {
  let bytes = ''
  let bits = 0
  let bitCount = 0
  for (let index = 0; index < encoded.length; index++) {
    const unit = encoded.charCodeAt(index)
    if (unit === 0x3d) break
    bits = ((bits << 6) | (base64Values[unit] ?? 0)) & 0xffff
    bitCount += 6
    if (bitCount >= 8) {
      bitCount -= 8
      bytes += String.fromCharCode((bits >> bitCount) & 0xff)
    }
  }
  return bytes
}
