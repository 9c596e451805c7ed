import * as fc from 'fast-check'
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { checkRewritten } from '../check-rewritten.ts'
import { openStage } from '../stage.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import { REPLY } from '../wire/recording-upstream.ts'
import { valuesOf } from '../wire/strict-http.ts'

const BODY_BYTES_MAX = 1024 * 1024

/**
 * Packed bodies: well packed, cut off, not what they claim, packed twice, and bombs of a quarter of a gigabyte. What
 * cannot be unpacked within the limit is relayed as it came, and costs no more memory than the limit.
 */
export const encodings: FuzzTarget = {
  name: 'encodings',
  share: 1,
  open: async () => {
    const stage = await openStage({
      settings: {
        limits: { body_mb: BODY_BYTES_MAX / 1024 / 1024, bytes_in_flight_mb: 16 },
        usage: { in_streams: 'never' },
      },
      memoryBytesMax: 450 * 1024 * 1024,
      profiles: { default: { window: { tokens: 2_000, output_reserve: 256 }, template: 'lenient' } },
    })
    return openTarget({
      arbitrary: packed,
      check: async (input): Promise<Fate> => {
        await stage.begin()
        const { content, codings, claimed, damage } = input
        const plain = contents[content]
        const whole = codings.reduce<Buffer>((bytes, coding) => packers[coding](bytes), plain)
        // A bomb that is not packed is refused, whatever its size.
        const body = damages[damage](whole.subarray(0, 2 * BODY_BYTES_MAX))
        const header = [`Content-Encoding: ${claimed ?? codings.join(', ')}`]
        const answer = await stage.client.ask(requestOf('/v1/chat/completions', body, header))
        const received = await stage.afterwards()
        if (body.length > BODY_BYTES_MAX && answer.code === 'body_too_large') return '413 body_too_large'
        const [only] = received
        if (answer.status !== 200 || answer.body.toString() !== REPLY)
          throw new Error(`${answer.startLine} ${answer.body.toString().slice(0, 300)}`)
        if (received.length !== 1 || only === undefined) throw new Error(`sent ${received.length} times`)
        const action = answer.header('x-foldgate-action') ?? ''
        const coding = valuesOf(only.headers, 'content-encoding').join(', ')
        if (/^relayed(?:;|$)/.test(action)) {
          if (!only.body.equals(body)) throw new Error(`${action}, but with other bytes`)
          if (coding !== header[0]?.slice('Content-Encoding: '.length))
            throw new Error(`arrived as ${coding}`)
          return content.startsWith('bomb') ? `bomb ${action}` : action
        }
        if (action !== 'compacted') throw new Error(`x-foldgate-action: ${action}`)
        if (coding !== '') throw new Error(`unpacked, yet called ${coding}`)
        checkRewritten(plain, only.body)
        return action
      },
      close: stage.close,
    })
  },
}

// --- internal ---

const turns = '{"role":"user","content":"why?"},{"role":"assistant","content":"because of all the rest"},'

const contents = {
  short: Buffer.from('{"model":"m","messages":[{"role":"user","content":"a"}]}'),
  long: Buffer.from(`{"model":"m","messages":[${turns.repeat(300)}{"role":"user","content":"and?"}]}`),
  'no JSON': Buffer.from('not at all'),
  empty: Buffer.alloc(0),
  'at the limit': Buffer.from(
    `{"model":"m","messages":[{"role":"user","content":"a"}]}`.padEnd(BODY_BYTES_MAX),
  ),
  'over the limit': Buffer.from(
    `{"model":"m","messages":[{"role":"user","content":"a"}]}`.padEnd(BODY_BYTES_MAX + 1),
  ),
  bomb: Buffer.alloc(256 * 1024 * 1024, ' '),
} as const

const best = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 } }

/** Bombs take a while to be made: each once. */
function once(pack: (bytes: Buffer) => Buffer): (bytes: Buffer) => Buffer {
  const known = new Map<Buffer, Buffer>()
  return (bytes) => {
    const made = known.get(bytes) ?? pack(bytes)
    if (known.size < 16) known.set(bytes, made)
    return made
  }
}

const packers = {
  gzip: once((bytes) => gzipSync(bytes)),
  'x-gzip': once((bytes) => Buffer.concat([gzipSync(bytes), gzipSync(Buffer.alloc(0))])),
  deflate: once((bytes) => deflateSync(bytes)),
  Deflate: once((bytes) => deflateRawSync(bytes)),
  br: once((bytes) => brotliCompressSync(bytes, best)),
  zstd: once((bytes) => zstdCompressSync(bytes)),
  identity: (bytes: Buffer) => bytes,
} as const

const damages = {
  none: (bytes: Buffer) => bytes,
  'cut in the middle': (bytes: Buffer) => bytes.subarray(0, bytes.length / 2),
  'without its end': (bytes: Buffer) => bytes.subarray(0, -4),
  'with more behind it': (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('more')]),
  doubled: (bytes: Buffer) => Buffer.concat([bytes, bytes]),
  'one bit': (bytes: Buffer) => {
    const changed = Buffer.from(bytes)
    changed[20] = (changed[20] ?? 0) ^ 4
    return changed
  },
} as const

const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>) => Object.keys(record) as Key[]

const packed = fc.record({
  content: fc.constantFrom(...keysOf(contents)),
  codings: fc.array(fc.constantFrom(...keysOf(packers)), { maxLength: 3 }),
  claimed: fc.option(
    fc.constantFrom(
      'gzip',
      'br',
      'zstd',
      'deflate',
      'gzip, gzip, gzip, gzip',
      'compress',
      'GZIP',
      ',',
      '',
      'gzip;q=1',
      '*',
    ),
    { freq: 3, nil: null },
  ),
  damage: fc.oneof(
    { weight: 3, arbitrary: fc.constant('none' as const) },
    fc.constantFrom(...keysOf(damages)),
  ),
})
