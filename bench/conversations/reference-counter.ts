import ranksOfO200k from 'js-tiktoken/ranks/o200k_base'

/**
 * Counts the tokens of o200k_base in a way of its own, so that the counts of texts can be compared that the published
 * encoders are too slow for: pieces by the encoding's own pattern, pairs in one list for each rank. Shares no code with
 * Foldgate's counter.
 */
export function createReferenceCounter(): (text: string) => number {
  const ranks = readRanks()
  return (text) => {
    let tokens = 0
    for (const [piece] of text.matchAll(new RegExp(ranksOfO200k.pat_str, 'gu')))
      tokens += countPiece(Buffer.from(piece).toString('latin1'), ranks)
    return tokens
  }
}

// --- internal ---

/** Ranks by the token's bytes, one character a byte. */
function readRanks(): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>()
  for (const row of ranksOfO200k.bpe_ranks.split('\n')) {
    const [, first, ...tokens] = row.split(' ')
    tokens.forEach((token, index) =>
      ranks.set(Buffer.from(token, 'base64').toString('latin1'), Number(first) + index),
    )
  }
  return ranks
}

/** The definition: as long as a pair of neighbours is a token, the one of lowest rank is merged, the leftmost first. */
function countPiece(bytes: string, ranks: ReadonlyMap<string, number>): number {
  const { length } = bytes
  /** Where the part that begins here ends; 0 where none begins. */
  const ends = Int32Array.from({ length }, (_, start) => start + 1)
  /** Where the part before the one that begins here begins. */
  const before = Int32Array.from({ length }, (_, start) => start - 1)
  let parts = length
  /** Where pairs of a rank begin. Some may be gone since; a pair is looked at again before it is merged. */
  const startsByRank = new Map<number, number[]>()
  /** Ranks that have such a list, ascending from the back. */
  const waiting: number[] = []

  const rankAt = (start: number): number | undefined => {
    const middle = ends[start] ?? 0
    if (middle === 0 || middle >= length) return undefined
    return ranks.get(bytes.slice(start, ends[middle]))
  }
  const note = (start: number): number => {
    const rank = rankAt(start)
    if (rank === undefined) return Infinity
    const starts = startsByRank.get(rank)
    if (starts !== undefined) starts.push(start)
    else {
      startsByRank.set(rank, [start])
      waiting.splice(placeOf(waiting, rank), 0, rank)
    }
    return rank
  }
  for (let start = 0; start < length; start += 1) note(start)

  for (let rank = waiting.pop(); rank !== undefined; rank = waiting.pop()) {
    const starts = (startsByRank.get(rank) ?? []).toSorted((one, other) => one - other)
    startsByRank.delete(rank)
    for (const [index, start] of starts.entries()) {
      if (rankAt(start) !== rank) continue
      const middle = ends[start] ?? 0
      const end = ends[middle] ?? 0
      ends[start] = end
      ends[middle] = 0
      if (end < length) before[end] = start
      parts -= 1
      const previous = before[start] ?? -1
      const lowest = Math.min(note(start), previous >= 0 ? note(previous) : Infinity)
      if (lowest >= rank) continue
      // A lower one has come up: it goes first, and the rest of these wait again.
      for (const left of starts.slice(index + 1)) note(left)
      break
    }
  }
  return parts
}

/** Where a rank belongs in a descending list. */
function placeOf(descending: readonly number[], rank: number): number {
  let low = 0
  let high = descending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((descending[middle] ?? 0) > rank) low = middle + 1
    else high = middle
  }
  return low
}
