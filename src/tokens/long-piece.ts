import type { Steps } from '../conversation/source.ts'
import { mergeBytes } from './byte-pairs.ts'
import { byteText, bytesPerUnitMax, isHighSurrogate, writeUtf8 } from './byte-text.ts'
import type { RankTable } from './rank-table.ts'

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
 */
export function* longPieceTokens(
  text: string,
  start: number,
  end: number,
  ranks: RankTable,
  blockBytes = blockBytesDefault,
): Steps<number> {
  // The block to be cut and what may be the next one; the block stands at the front.
  const window = new Uint8Array(2 * blockBytes + bytesPerUnitMax * unitsWrittenAtOnce)
  let filled = 0
  let unit = start
  let tokens = 0
  let tokenEnds: readonly number[] | null = null
  for (;;) {
    while (filled < 2 * blockBytes && unit < end) {
      let stop = Math.min(end, unit + unitsWrittenAtOnce)
      if (stop < end && isHighSurrogate(text.charCodeAt(stop - 1))) stop -= 1
      filled = writeUtf8(text, unit, stop, window, filled)
      unit = stop
    }
    const bytes = byteText(window, filled)
    tokenEnds ??= mergeBytes(bytes.slice(0, blockBytes), ranks)
    if (filled <= blockBytes) return tokens + tokenEnds.length
    yield
    const seam = findSeam(bytes, tokenEnds, blockBytes, ranks)
    // Not seen with real ranks. A larger block is slower and right all the same.
    if (seam === null) return yield* longPieceTokens(text, start, end, ranks, 2 * blockBytes)
    tokens += seam.tokensBefore
    tokenEnds = seam.tokenEnds
    window.copyWithin(0, seam.at, filled)
    filled -= seam.at
  }
}

// --- internal ---

// Above one, or a pair of surrogates would never be written.
const unitsWrittenAtOnce = 1024

/** How far into a block the seam is looked for: near the end first, as what stands behind it is merged twice. */
const seamShares = [15 / 16, 3 / 4, 1 / 2]

type Seam = { readonly at: number; readonly tokensBefore: number; readonly tokenEnds: readonly number[] }

function findSeam(
  bytes: string,
  tokenEnds: readonly number[],
  blockBytes: number,
  ranks: RankTable,
): Seam | null {
  const block = bytes.slice(0, blockBytes)
  for (const share of seamShares) {
    const tokensBefore = tokenEnds.findLastIndex((tokenEnd) => tokenEnd <= share * blockBytes) + 1
    const at = tokenEnds[tokensBefore - 1]
    const tokenEnd = tokenEnds[tokensBefore]
    if (at === undefined || tokenEnd === undefined) continue
    const next = bytes.slice(at, at + blockBytes)
    // One character repeated for megabytes is the likeliest long piece: all its blocks are alike.
    const nextEnds = next === block ? tokenEnds : mergeBytes(next, ranks)
    const nextEnd = nextEnds[0]
    if (nextEnd !== undefined && at + nextEnd === tokenEnd) return { at, tokensBefore, tokenEnds: nextEnds }
  }
  return null
}
