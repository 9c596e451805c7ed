import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'

/** By its name in `content-encoding`. */
export type Coding = keyof typeof packers

/** As small as it gets, for what says the same again and again. */
export function packed(bytes: Buffer, coding: Coding): Buffer {
  return packers[coding](bytes)
}

// --- internal ---

const packers = {
  gzip: (bytes: Buffer) => gzipSync(bytes, { level: 9 }),
  br: (bytes: Buffer) =>
    brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 },
    }),
  zstd: (bytes: Buffer) => zstdCompressSync(bytes),
} as const
