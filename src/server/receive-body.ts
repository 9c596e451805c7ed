import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Settings } from '../config/settings.ts'
import { answerable, ClientGoneError, FoldgateError } from '../errors.ts'
import type { ClientBody, RequestBody } from '../pipeline/client-request.ts'
import { createFairShare, type FairShare, type Holder, type Taking } from '../scheduling/fair-share.ts'
import { decodeBody } from '../upstream/decode-body.ts'
import { gather } from '../scheduling/gather.ts'

export type ReceiveBodyOptions = {
  /** The largest body, as sent and decoded, in bytes (`limits.body_mb`). */
  readonly bodyBytesMax: number
  /** Shared by all requests (`limits.bytes_in_flight_mb`). */
  readonly budget: FairShare
  /** How fast a client has to send it. */
  readonly arrival: ArrivalLimits
}

/** What clients may send, by the settings. What is in flight is shared by all who get this. */
export function bodyLimitsOf(limits: Settings['limits']): ReceiveBodyOptions {
  return {
    bodyBytesMax: limits.body_mb * MEGABYTE,
    budget: createFairShare({ max: limits.bytes_in_flight_mb * MEGABYTE, crowdedFrom: CROWDED_BYTES }),
    arrival: {
      silenceMs: limits.idle_s === 0 ? ENDLESS_MS : limits.idle_s * 1000,
      bytesPerSecondMin: limits.body_kb_per_s * 1024,
    },
  }
}

/** The two sides of a request, and whose it is. */
type Receiving = {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly holder: Holder
}

/** The body of a request, to be taken by who handles it. `onLate`: where it is passed on and the client sends it too slowly. */
export function clientBody(
  receiving: Receiving,
  options: ReceiveBodyOptions,
  onLate: (error: FoldgateError) => void,
): ClientBody {
  const { incoming } = receiving
  const declared = declaredBytes(incoming)
  return {
    declaredBytes: declared,
    isWithinLimits: declared !== null && declared <= Math.min(options.bodyBytesMax, options.budget.max),
    read: () => receiveBody(receiving, options),
    open: async () => {
      // The parser comes to the body once the event that began the request is over.
      await Promise.resolve()
      if (declared === 0) return null
      const body = bodyAtHand(incoming, declared) ?? uploadOf(incoming, options.arrival, onLate)
      inviteBody(incoming, receiving.outgoing)
      return body
    },
  }
}

/**
 * Reads a request's body into memory, and pays for its bytes as they come: a stated length takes nothing from anybody.
 * Throws `body_too_large`, `overloaded`, `body_timeout` or, when the client leaves, a `ClientGoneError`.
 */
export async function receiveBody(
  { incoming, outgoing, holder }: Receiving,
  options: ReceiveBodyOptions,
): Promise<RequestBody> {
  const { bodyBytesMax, budget } = options
  const share = budget.open(holder)
  const charge = (bytes: number): void => {
    const taking = share.take(bytes)
    if (taking !== 'taken') throw overloaded(taking)
  }
  try {
    const declared = declaredBytes(incoming)
    if (declared !== null && (declared > bodyBytesMax || declared > budget.max))
      throw tooLarge(declared, options)
    // The parser comes to the body once the event that began the request is over.
    await Promise.resolve()
    if (incoming.headers.expect !== undefined) inviteBody(incoming, outgoing)
    const atHand = bodyAtHand(incoming, declared)
    if (atHand !== null) charge(atHand.length)
    const raw = atHand ?? (await collect(incoming, options, charge, declared))
    const encoding = incoming.headers['content-encoding']
    const isPlain = encoding === undefined || encoding.trim().toLowerCase() === 'identity'
    const decoded = isPlain ? raw : await decodedBody(raw, encoding, options, charge)
    return { raw, decoded, charge, release: share.release }
  } catch (error) {
    share.release()
    throw error
  }
}

/** Whether a client waits with its body until it is told to go on, and expects nothing else (RFC 9110 section 10.1.1). */
export function expectsContinue(expect: string): boolean {
  return /^100-continue(?:[\t ]*,[\t ]*100-continue)*$/i.test(expect)
}

export type ArrivalLimits = {
  /** How long a client may send nothing of its body, and take nothing of its answer, in milliseconds (`limits.idle_s`). */
  readonly silenceMs: number
  /** The fewest bytes of a body that a client has to send in a second (`limits.body_kb_per_s`); 0: no least. */
  readonly bytesPerSecondMin: number
  /** How far a client may be behind that, in milliseconds. Default 20,000: a connection that changes networks takes seconds. */
  readonly graceMs?: number
}

/**
 * Sees to it that a body arrives: calls `onLate` with a `body_timeout` where it comes too slowly. It begins paused. A silence
 * counts from the last byte; the rate by what the client is behind, and what it once sent faster is no leave to be slow for
 * hours: a body holds its place and its bytes for as long as it takes.
 *
 * @internal exported for tests
 */
export function watchArrival(limits: ArrivalLimits, onLate: (error: FoldgateError) => void) {
  const { silenceMs, bytesPerSecondMin } = limits
  const graceMs = bytesPerSecondMin === 0 ? Number.POSITIVE_INFINITY : (limits.graceMs ?? GRACE_MS)
  let timer: NodeJS.Timeout | null = null
  /** When it went on, or the last bytes came. */
  let lastMs = 0
  let silentMs = 0
  /** How far the client may still fall behind the rate. */
  let leeway = graceMs

  /** Brings both up to now. */
  function pass(): void {
    const now = performance.now()
    silentMs += now - lastMs
    leeway -= now - lastMs
    lastMs = now
  }
  function check(): void {
    pass()
    const leftMs = Math.min(silenceMs - silentMs, leeway)
    if (leftMs > 0) timer = setTimeout(checkBehindInput, Math.ceil(leftMs))
    else onLate(late(limits, leeway <= 0))
  }
  /** Node reads bytes that came while this process was busy after it has run the timers. */
  function checkBehindInput(): void {
    setImmediate(() => {
      if (timer !== null) check()
    })
  }

  return {
    arrived: (bytes: number): void => {
      if (timer !== null) pass()
      silentMs = 0
      if (bytesPerSecondMin > 0) leeway = Math.min(graceMs, leeway + (bytes * 1000) / bytesPerSecondMin)
    },
    /** Stops it: from now on it is not the client that keeps the body waiting. */
    pause: (): void => {
      if (timer === null) return
      pass()
      clearTimeout(timer)
      timer = null
    },
    goOn: (): void => {
      if (timer !== null) return
      lastMs = performance.now()
      timer = setTimeout(checkBehindInput, Math.ceil(Math.max(0, Math.min(silenceMs - silentMs, leeway))))
    },
  }
}

// --- internal ---

const MEGABYTE = 1024 * 1024

/** More than one agent has in flight, however long its conversation: memory counts for more than time then. */
const CROWDED_BYTES = 32 * MEGABYTE

/** The longest time a timer can wait, in milliseconds: a limit of 0 is none. */
const ENDLESS_MS = 2 ** 31 - 1

type Charge = RequestBody['charge']

/**
 * The length that a request states for its body, in bytes: 0 where it carries none; null where its end tells, with a
 * transfer coding (RFC 9112 section 6.3).
 */
function declaredBytes({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null
}

/** Tells a client that waits with its body (`Expect: 100-continue`) to send it. */
function inviteBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { expect } = incoming.headers
  if (expect === undefined || !expectsContinue(expect) || declaredBytes(incoming) === 0) return
  if (!outgoing.headersSent && !outgoing.destroyed) outgoing.writeContinue()
}

/**
 * A body that has arrived whole with the headers of its request, as small ones do; null where it has not. To be asked
 * once the request's own event is over: the parser comes to the body behind it.
 */
function bodyAtHand(incoming: IncomingMessage, declared: number | null): Buffer | null {
  if (declared === 0 || incoming.readableLength !== declared) return null
  const body: unknown = incoming.read()
  return Buffer.isBuffer(body) ? body : null
}

/**
 * A request's body as a stream of its own. undici destroys the body of a failed request, and we that of one which may not go
 * on; destroying the request itself would take the client's connection, and with it the answer that tells what went wrong.
 * `onLate` is called where the client sends it too slowly; what waits for the upstream is not the client's doing.
 */
function uploadOf(
  incoming: IncomingMessage,
  limits: ArrivalLimits,
  onLate: (error: FoldgateError) => void,
): Readable {
  const clock = watchArrival(limits, onLate)
  const upload = new Readable({
    read() {
      clock.goOn()
      incoming.resume()
    },
    destroy(error, done) {
      clock.pause()
      incoming.off('data', take)
      incoming.off('end', finish)
      incoming.off('close', breakOff)
      done(error)
    },
  })
  function take(chunk: Buffer): void {
    clock.arrived(chunk.length)
    if (upload.push(chunk)) return
    clock.pause()
    incoming.pause()
  }
  function finish(): void {
    clock.pause()
    upload.push(null)
  }
  function breakOff(): void {
    if (!incoming.complete) upload.destroy(new ClientGoneError())
  }
  incoming.on('data', take)
  incoming.once('end', finish)
  incoming.once('close', breakOff)
  incoming.pause()
  if (incoming.destroyed) breakOff()
  upload.on('error', () => {
    // Who reads it hears it too; without a listener here one that comes late would end the process.
  })
  return upload
}

/** Resolves when all pieces have come and are one. */
async function collect(
  incoming: IncomingMessage,
  options: ReceiveBodyOptions,
  charge: Charge,
  declared: number | null,
): Promise<Buffer> {
  const { bodyBytesMax, budget } = options
  const gathering = gather(declared, budget.isCrowded)
  const upload = uploadOf(incoming, options.arrival, (error) => upload.destroy(error))
  let bytes = 0
  upload.on('data', (piece: Buffer) => {
    bytes += piece.length
    try {
      if (bytes > bodyBytesMax || bytes > budget.max) throw tooLarge(bytes, options)
      charge(piece.length)
      gathering.add(piece)
    } catch (error) {
      upload.destroy(answerable(error))
    }
  })
  await finished(upload)
  return gathering.whole()
}

/** Null where it cannot be decoded, or comes to more than a body may. */
function decodedBody(
  raw: Buffer,
  contentEncoding: string,
  { bodyBytesMax, budget }: ReceiveBodyOptions,
  charge: Charge,
): Promise<Buffer | null> {
  let bytes = 0
  function take(pieceBytes: number): boolean {
    bytes += pieceBytes
    if (bytes > bodyBytesMax || bytes > budget.max) return false
    charge(pieceBytes)
    return true
  }
  return decodeBody(raw, contentEncoding, take, budget.isCrowded)
}

function tooLarge(bytes: number, { bodyBytesMax, budget }: ReceiveBodyOptions): FoldgateError {
  const [bytesMax, setting] =
    bytes > bodyBytesMax ? [bodyBytesMax, 'limits.body_mb'] : [budget.max, 'limits.bytes_in_flight_mb']
  const megabytes = Math.round((bytesMax / MEGABYTE) * 100) / 100
  return new FoldgateError(
    'body_too_large',
    `The request's body is larger than ${megabytes} MB (${setting}). Send less, or raise that setting.`,
  )
}

function overloaded(taking: Exclude<Taking, 'taken'>): FoldgateError {
  return new FoldgateError(
    'overloaded',
    taking === 'full'
      ? 'Foldgate holds as many bytes of requests as it may (limits.bytes_in_flight_mb). Try again shortly.'
      : 'Foldgate holds as many bytes of requests for this client as one may have while others wait: half of limits.bytes_in_flight_mb. Try again when some of its requests are answered.',
  )
}

const GRACE_MS = 20_000

function late({ silenceMs, bytesPerSecondMin }: ArrivalLimits, isSlow: boolean): FoldgateError {
  return new FoldgateError(
    'body_timeout',
    isSlow
      ? `The request's body came at less than ${bytesPerSecondMin / 1024} kB a second (limits.body_kb_per_s). Send it again over a faster connection, or lower that setting.`
      : `The request's body stopped arriving for ${silenceMs / 1000} s before it was complete (limits.idle_s). Send it again.`,
  )
}
