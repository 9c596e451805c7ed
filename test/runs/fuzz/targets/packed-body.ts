import * as fc from 'fast-check'
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { texts } from '../texts.ts'

/** A body with content codings, by the names of what it was made of. */
export type PackedBody = {
  readonly content: string
  /** In the order in which they were applied. */
  readonly codings: readonly string[]
  /** What the header says instead; null: the codings. */
  readonly claimed: string | null
  readonly damage: string
}

/** Well packed, cut off, not what it claims, packed several times, and bombs. `bytesMax` is the limit of a body. */
export function packedBody(bytesMax: number): fc.Arbitrary<PackedBody> {
  return fc.record({
    content: fc.constantFrom(...contents(bytesMax).keys()),
    codings: fc.array(fc.constantFrom(...packers.keys()), { maxLength: 3 }),
    claimed: fc.option(fc.constantFrom('', ...claims), { freq: 3, nil: null }),
    damage: fc.oneof({ weight: 3, arbitrary: fc.constant('none') }, fc.constantFrom(...damages.keys())),
  })
}

/** Makes its bytes: as they are sent, and as they were before they were packed. */
export function packer(
  bytesMax: number,
): (body: PackedBody) => { readonly plain: Buffer; readonly bytes: Buffer } {
  const plains = contents(bytesMax)
  return ({ content, codings, damage }) => {
    const plain = plains.get(content)?.() ?? Buffer.alloc(0)
    const whole = codings.reduce((bytes, coding) => packers.get(coding)?.(bytes) ?? bytes, plain)
    // A bomb that is not packed is refused, whatever its size.
    const sent = whole.subarray(0, 2 * bytesMax)
    return { plain, bytes: damages.get(damage)?.(sent) ?? sent }
  }
}

// --- internal ---

type Change = (bytes: Buffer) => Buffer

const claims = texts`gzip ¦ br ¦ zstd ¦ deflate ¦ gzip, gzip, gzip, gzip ¦ compress ¦ GZIP ¦ , ¦ gzip;q=1 ¦ *`

const QUESTION = '{"model":"m","messages":[{"role":"user","content":"a"}]}'

const TURNS = '{"role":"user","content":"why?"},{"role":"assistant","content":"because of all the rest"},'

/** Far more than any limit here, and little enough to be made while one waits. */
const BOMB_BYTES = 128 * 1024 * 1024

function contents(bytesMax: number): ReadonlyMap<string, () => Buffer> {
  const made: readonly (readonly [string, () => Buffer])[] = [
    ['short', () => Buffer.from(QUESTION)],
    [
      'long',
      () => Buffer.from(`{"model":"m","messages":[${TURNS.repeat(300)}{"role":"user","content":"and?"}]}`),
    ],
    ['no JSON', () => Buffer.from('not at all')],
    ['empty', () => Buffer.alloc(0)],
    ['at the limit', () => Buffer.from(QUESTION.padEnd(bytesMax))],
    ['over the limit', () => Buffer.from(QUESTION.padEnd(bytesMax + 1))],
    ['bomb', () => Buffer.alloc(BOMB_BYTES, ' ')],
  ]
  return new Map(made.map(([name, make]) => [name, once(make)]))
}

function once(make: () => Buffer): () => Buffer {
  let known: Buffer | null = null
  return () => (known ??= make())
}

const smallest = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 } }

const packers: ReadonlyMap<string, Change> = new Map<string, Change>([
  ['gzip', remembered((bytes) => gzipSync(bytes))],
  ['x-gzip', remembered((bytes) => Buffer.concat([gzipSync(bytes), gzipSync(Buffer.alloc(0))]))],
  ['deflate', remembered((bytes) => deflateSync(bytes))],
  ['Deflate', remembered((bytes) => deflateRawSync(bytes))],
  ['br', remembered((bytes) => brotliCompressSync(bytes, smallest))],
  ['zstd', remembered((bytes) => zstdCompressSync(bytes))],
  ['identity', (bytes) => bytes],
])

/** Bombs take a while to be made. */
function remembered(pack: Change): Change {
  const known = new WeakMap<Buffer, Buffer>()
  return (bytes) => {
    const made = known.get(bytes) ?? pack(bytes)
    known.set(bytes, made)
    return made
  }
}

const damages: ReadonlyMap<string, Change> = new Map<string, Change>([
  ['none', (bytes) => bytes],
  ['cut in the middle', (bytes) => bytes.subarray(0, bytes.length / 2)],
  ['without its end', (bytes) => bytes.subarray(0, -4)],
  ['with more behind it', (bytes) => Buffer.concat([bytes, Buffer.from('more')])],
  ['doubled', (bytes) => Buffer.concat([bytes, bytes])],
  [
    'one bit',
    (bytes) => {
      const changed = Buffer.from(bytes)
      changed[20] = (changed[20] ?? 0) ^ 4
      return changed
    },
  ],
])
