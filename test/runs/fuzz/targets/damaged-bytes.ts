import * as fc from 'fast-check'

export type DamageBytes = (bytes: Buffer) => Buffer

/**
 * Cuts, flips and doubles what is there, and puts `fragments` somewhere into it. Places are shares of the length, so that
 * they mean the same in something smaller.
 */
export function damageBytes(fragments: readonly Buffer[]): fc.Arbitrary<DamageBytes> {
  const fragment = fc.constantFrom(...fragments)
  return fc.oneof(
    place.map(
      (at): DamageBytes =>
        (bytes) =>
          bytes.subarray(0, indexAt(bytes, at)),
    ),
    place.map(
      (at): DamageBytes =>
        (bytes) =>
          bytes.subarray(indexAt(bytes, at)),
    ),
    fc.tuple(place, fc.integer({ min: 1, max: 255 })).map(([at, mask]): DamageBytes => (bytes) => {
      const changed = Buffer.from(bytes)
      const index = indexAt(bytes, at)
      changed[index] = (changed[index] ?? 0) ^ mask
      return changed
    }),
    fc.tuple(place, fragment).map(([at, inserted]): DamageBytes => (bytes) => {
      const index = indexAt(bytes, at)
      return Buffer.concat([bytes.subarray(0, index), inserted, bytes.subarray(index)])
    }),
    fragment.map(
      (first): DamageBytes =>
        (bytes) =>
          Buffer.concat([first, bytes]),
    ),
    fragment.map(
      (last): DamageBytes =>
        (bytes) =>
          Buffer.concat([bytes, last]),
    ),
    fc.tuple(place, place).map(([from, to]): DamageBytes => (bytes) => {
      const piece = bytes.subarray(indexAt(bytes, Math.min(from, to)), indexAt(bytes, Math.max(from, to)))
      return Buffer.concat([bytes, piece])
    }),
  )
}

/** Bytes that are no UTF-8, or that nobody expects where they stand. */
export const oddBytes: readonly Buffer[] = [
  ...[[0], [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf8], [0xe2, 0x82], [0xef, 0xbb, 0xbf]].map((some) =>
    Buffer.from(some),
  ),
  ...['\u2028', '\u00a0', '\\ud800', '\\udc00', '\\u0000', '1e999'].map((text) => Buffer.from(text)),
]

// --- internal ---

const place = fc.integer({ min: 0, max: 1_000 })

function indexAt(bytes: Buffer, share: number): number {
  return Math.min(Math.floor((bytes.length * share) / 1_000), Math.max(0, bytes.length - 1))
}
