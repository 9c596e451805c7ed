import { checkRewritten } from '../check-rewritten.ts'
import { openStage } from '../stage.ts'
import { openTarget, type Fate, type FuzzTarget } from '../target.ts'
import { requestOf } from '../wire/raw-exchange.ts'
import { REPLY } from '../wire/recording-upstream.ts'
import { valuesOf } from '../wire/strict-http.ts'
import { packedBody, packer } from './packed-body.ts'

const BODY_BYTES_MAX = 1024 * 1024

/**
 * Packed bodies: well packed, cut off, not what they claim, packed twice, and bombs, a hundred bytes that unpack to 128 MB. What
 * cannot be unpacked within the limit is relayed as it came, and costs no more memory than the limit.
 */
export const encodings: FuzzTarget = {
  name: 'encodings',
  share: 2,
  shows: ['relayed', 'bomb'],
  open: async () => {
    const stage = await openStage({
      settings: {
        limits: { body_mb: BODY_BYTES_MAX / 1024 / 1024, bytes_in_flight_mb: 16 },
        usage: { in_streams: 'never' },
      },
      memoryBytesMax: 550 * 1024 * 1024,
      profiles: { default: { window: { tokens: 2_000, output_reserve: 256 }, template: 'lenient' } },
    })
    const pack = packer(BODY_BYTES_MAX)
    return openTarget({
      arbitrary: packedBody(BODY_BYTES_MAX),
      check: async (packed): Promise<Fate> => {
        await stage.begin()
        const { plain, bytes } = pack(packed)
        const claimed = packed.claimed ?? packed.codings.join(', ')
        const header = `Content-Encoding: ${claimed}`
        const answer = await stage.client.ask(requestOf('/v1/chat/completions', bytes, [header]))
        const received = await stage.afterwards()
        if (bytes.length > BODY_BYTES_MAX && answer.code === 'body_too_large') return '413 body_too_large'
        const [only] = received
        if (answer.status !== 200 || answer.body.toString() !== REPLY)
          throw new Error(`${answer.startLine} ${answer.body.toString().slice(0, 300)}`)
        if (received.length !== 1 || only === undefined) throw new Error(`sent ${received.length} times`)
        const action = answer.header('x-foldgate-action') ?? ''
        const coding = valuesOf(only.headers, 'content-encoding').join(', ')
        if (/^relayed(?:;|$)/.test(action)) {
          if (!only.body.equals(bytes)) throw new Error(`${action}, but with other bytes`)
          if (coding !== claimed) throw new Error(`arrived as ${coding}`)
          return packed.content === 'bomb' ? `bomb ${action}` : action
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
