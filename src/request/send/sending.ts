import type { BodyPiece } from '../../conversation/splice.ts'
import type { Models } from '../../models/models.ts'
import type { Windows } from '../../models/windows.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import type { ServerWindows } from '../../models/discovery/server-windows.ts'
import type { CompactParts } from '../compact.ts'
import { measureOf, type MeasureParts } from '../measure/measure-request.ts'
import { expectedPromptTokens } from '../measure/sent-prompt.ts'
import type { Form, Measure, PreparedRequest } from '../request.ts'
import type { Flight, SharedPool } from './shared-pool.ts'

export type SendParts = CompactParts &
  MeasureParts & {
    readonly models: Models
    readonly upstreams: Upstreams
    /** When the usage of a streamed answer is asked for; `rewritten`: where the body is another than the client's anyway. */
    readonly usageInStreams: 'rewritten' | 'never' | 'always'
    readonly windows: Pick<Windows, 'refused' | 'recovered' | 'isContradicted'>
    readonly serverWindows: Pick<ServerWindows, 'refresh'>
    /** Of an upstream by its name; null for the default one. */
    readonly poolOf: (upstream: string | null) => SharedPool
  }

/** A request that is being sent: its facts, and what the wrappers around `sendOnce` find out about it on the way. */
export type Sending = {
  readonly request: PreparedRequest
  /** The client's bytes with their content coding, sent where nothing was changed. */
  readonly raw: Buffer
  readonly parts: SendParts
  /** The measure; with its count, as soon as somebody asked for that. */
  measure: Measure | null
  /** Upstream requests made so far. */
  attempts: number
  /** When the first of them was made, as `performance.now()` told. */
  firstSentAtMs: number
  /** The latest of them at its upstream; null where none is noted. */
  flight: Flight | null
}

export function openSending(request: PreparedRequest, raw: Buffer, parts: SendParts): Sending {
  return { request, raw, parts, measure: request.measure, attempts: 0, firstSentAtMs: 0, flight: null }
}

/** The request counted, also where its size had not asked for it; null where there is nothing to count by. */
export async function countedMeasure(sending: Sending): Promise<Measure> {
  const { measure, request, parts } = sending
  if (measure !== null && measure.counted !== null) return measure
  sending.measure = await measureOf(request, parts, true)
  return sending.measure
}

/** The prompt of a form in the provider's tokens, as far as is known. */
export function promptTokensOf(measure: Measure | null, form: Form, ownTokens = form.sentTokens): number {
  return measure === null ? ownTokens : expectedPromptTokens(measure, form, ownTokens)
}

/** The same form with other pieces. */
export function withPieces(form: Form, pieces: readonly BodyPiece[]): Form {
  return { ...form, pieces }
}
