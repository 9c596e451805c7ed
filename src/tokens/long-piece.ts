import type { Steps } from '../conversation/source.ts'
import { mergeBytes } from './byte-pairs.ts'
import type { RankOf } from './rank-table.ts'

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
export function utf8Bytes(text: string, start: number, end: number): string {
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

// --- internal ---

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
