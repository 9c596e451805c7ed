import { noRank, type RankOf } from './rank-table.ts'

/** How many tokens byte-pair merging leaves of a short run of bytes. Looks at all pairs for each merge. */
export function countShort(bytes: string, rankOf: RankOf): number {
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

/**
 * Where each token ends after byte-pair merging, in ascending order. Takes n log n steps: the lowest pair is kept in a heap,
 * the parts in a list linked by their first bytes.
 */
export function mergeBytes(bytes: string, rankOf: RankOf): number[] {
  const length = bytes.length
  const ends = new Int32Array(length)
  const previous = new Int32Array(length)
  const pairRanks = new Int32Array(length).fill(noRank)
  const heap = new PairHeap(length)

  const setPair = (start: number): void => {
    const middle = ends[start] ?? length
    const rank = middle < length ? rankOf(bytes, start, ends[middle] ?? length) : noRank
    pairRanks[start] = rank
    if (rank !== noRank) heap.push(rank, start)
  }

  for (let start = 0; start < length; start++) {
    ends[start] = start + 1
    previous[start] = start - 1
  }
  for (let start = 0; start < length; start++) setPair(start)

  while (heap.pop()) {
    const { rank, start } = heap
    // A pair of which a part was merged away since: its part is gone or has another rank now.
    if (pairRanks[start] !== rank) continue
    const middle = ends[start] ?? length
    const end = ends[middle] ?? length
    ends[start] = end
    pairRanks[middle] = noRank
    if (end < length) previous[end] = start
    setPair(start)
    const before = previous[start] ?? -1
    if (before >= 0) setPair(before)
  }

  const tokenEnds: number[] = []
  for (let start = 0; start < length; start = ends[start] ?? length) tokenEnds.push(ends[start] ?? length)
  return tokenEnds
}

// --- internal ---

/** Pairs by rank, then by place: the order in which byte-pair merging takes them. */
class PairHeap {
  /** What `pop` found. */
  rank = noRank
  start = 0
  readonly #keys: number[] = []
  readonly #places: number

  constructor(places: number) {
    this.#places = places
  }

  push(rank: number, start: number): void {
    // Exact: ranks stay below 2^18 and places below 2^32, far from the 2^53 of a number.
    const key = rank * this.#places + start
    const keys = this.#keys
    let hole = keys.length
    keys.push(key)
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      const parentKey = keys[parent] ?? 0
      if (parentKey <= key) break
      keys[hole] = parentKey
      hole = parent
    }
    keys[hole] = key
  }

  pop(): boolean {
    const keys = this.#keys
    const lowest = keys[0]
    const last = keys.pop()
    if (lowest === undefined || last === undefined) return false
    this.rank = Math.floor(lowest / this.#places)
    this.start = lowest % this.#places
    const length = keys.length
    if (length === 0) return true
    let hole = 0
    for (;;) {
      let child = 2 * hole + 1
      if (child >= length) break
      let childKey = keys[child] ?? 0
      const right = keys[child + 1]
      if (right !== undefined && right < childKey) {
        child += 1
        childKey = right
      }
      if (childKey >= last) break
      keys[hole] = childKey
      hole = child
    }
    keys[hole] = last
    return true
  }
}
