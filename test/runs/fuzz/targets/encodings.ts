import { checkRewritten, treatmentOf } from '../check.ts'
import { openStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import { REPLY, type Received } from '../wire/recording-upstream.ts'
import { valuesOf } from '../wire/strict-http.ts'
import * as fc from 'fast-check'
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { anyOf, texts, upTo } from '../arbitrary.ts'

const BODY_BYTES_MAX = 1024 * 1024

/**
 * Packed bodies: well packed, cut off, not what they claim, packed twice, and bombs, a hundred bytes that unpack to 128 MB. What
 * cannot be unpacked within the limit is relayed as it came, and costs no more memory than the limit.
 */
export const encodings = fuzzTarget('encodings', 2, ['relayed', 'bomb'], async () => {
  const stage = await openStage({
    settings: {
      limits: { body_mb: BODY_BYTES_MAX / 1024 / 1024, bytes_in_flight_mb: 16 },
      usage: { in_streams: 'never' },
    },
    memoryBytesMax: 550 * 1024 * 1024,
    profiles: { default: { window: { tokens: 2_000, output_reserve: 256 }, template: 'lenient' } },
  })
  return {
    arbitrary: packedBody(),
    check: async (packed) => {
      await stage.begin()
      const { plain, bytes } = bytesOf(packed)
      const claimed = packed.claimed ?? packed.codings.join(', ')
      const header = `Content-Encoding: ${claimed}`
      const answer = await stage.client.ask(requestOf('/v1/chat/completions', bytes, [header]))
      const received = await stage.afterwards()
      if (bytes.length > BODY_BYTES_MAX && answer.code === 'body_too_large') return '413 body_too_large'
      const check = ({ headers, body }: Received) => {
        const coding = valuesOf(headers, 'content-encoding')
        if (coding.length > 0) throw new Error(`unpacked, yet called ${coding.join()}`)
        checkRewritten(plain, body)
      }
      const { action, only } = treatmentOf({ sent: bytes, reply: REPLY, check }, answer, received)
      if (action === 'compacted') return action
      const coding = valuesOf(only.headers, 'content-encoding').join(', ')
      if (coding !== claimed) throw new Error(`arrived as ${coding}`)
      return packed.content === 'bomb' ? `bomb ${action}` : action
    },
    close: stage.close,
  }
})

/** A body with content codings, by the names of what it was made of. */
type PackedBody = {
  readonly content: string
  /** In the order in which they were applied. */
  readonly codings: readonly string[]
  /** What the header says instead; null: the codings. */
  readonly claimed: string | null
  readonly damage: string
}

/** Well packed, cut off, not what it claims, packed several times, and bombs. */
function packedBody(): fc.Arbitrary<PackedBody> {
  return fc.record({
    content: fc.constantFrom(...Object.keys(contents)),
    codings: upTo(3, fc.constantFrom(...Object.keys(packers))),
    claimed: fc.option(fc.constantFrom('', ...claims), { freq: 3, nil: null }),
    damage: anyOf([3, fc.constant('none')], fc.constantFrom(...Object.keys(damages))),
  })
}

/** Makes its bytes: as they are sent, and as they were before they were packed. */
function bytesOf({ content, codings, damage }: PackedBody) {
  const plain = contents[content]?.() ?? Buffer.alloc(0)
  const whole = codings.reduce((bytes, coding) => packers[coding]?.(bytes) ?? bytes, plain)
  // A bomb that is not packed is refused, whatever its size.
  const sent = whole.subarray(0, 2 * BODY_BYTES_MAX)
  return { plain, bytes: damages[damage]?.(sent) ?? sent }
}

type Change = (bytes: Buffer) => Buffer

const claims = texts`gzip ¦ br ¦ zstd ¦ deflate ¦ gzip, gzip, gzip, gzip ¦ compress ¦ GZIP ¦ , ¦ gzip;q=1 ¦ *`

const QUESTION = '{"model":"m","messages":[{"role":"user","content":"a"}]}'

const TURNS = '{"role":"user","content":"why?"},{"role":"assistant","content":"because of all the rest"},'

/** Far more than any limit here, and little enough to be made while one waits. */
const BOMB_BYTES = 128 * 1024 * 1024

const contents: Readonly<Record<string, () => Buffer>> = {
  short: once(() => Buffer.from(QUESTION)),
  long: once(() =>
    Buffer.from(`{"model":"m","messages":[${TURNS.repeat(300)}{"role":"user","content":"and?"}]}`),
  ),
  'no JSON': once(() => Buffer.from('not at all')),
  empty: once(() => Buffer.alloc(0)),
  'at the limit': once(() => Buffer.from(QUESTION.padEnd(BODY_BYTES_MAX))),
  'over the limit': once(() => Buffer.from(QUESTION.padEnd(BODY_BYTES_MAX + 1))),
  bomb: once(() => Buffer.alloc(BOMB_BYTES, ' ')),
}

function once(make: () => Buffer): () => Buffer {
  let known: Buffer | null = null
  return () => (known ??= make())
}

const smallest = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 } }

const packers: Readonly<Record<string, Change>> = {
  gzip: remembered((bytes) => gzipSync(bytes)),
  'x-gzip': remembered((bytes) => Buffer.concat([gzipSync(bytes), gzipSync(Buffer.alloc(0))])),
  deflate: remembered((bytes) => deflateSync(bytes)),
  Deflate: remembered((bytes) => deflateRawSync(bytes)),
  br: remembered((bytes) => brotliCompressSync(bytes, smallest)),
  zstd: remembered((bytes) => zstdCompressSync(bytes)),
  identity: (bytes) => bytes,
}

/** Bombs take a while to be made. */
function remembered(pack: Change): Change {
  const known = new WeakMap<Buffer, Buffer>()
  return (bytes) => {
    const made = known.get(bytes) ?? pack(bytes)
    known.set(bytes, made)
    return made
  }
}

const damages: Readonly<Record<string, Change>> = {
  none: (bytes) => bytes,
  'cut in the middle': (bytes) => bytes.subarray(0, bytes.length / 2),
  'without its end': (bytes) => bytes.subarray(0, -4),
  'with more behind it': (bytes) => Buffer.concat([bytes, Buffer.from('more')]),
  doubled: (bytes) => Buffer.concat([bytes, bytes]),
  'one bit': (bytes) => {
    const changed = Buffer.from(bytes)
    changed[20] = (changed[20] ?? 0) ^ 4
    return changed
  },
}
