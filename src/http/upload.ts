import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { ClientGoneError, type FoldgateError } from '../errors.ts'
import { watchArrival, type ArrivalLimits } from './arrival-clock.ts'
import { expectsContinue } from './http-faults.ts'

/**
 * The length that a request states for its body, in bytes: 0 where it carries none; null where its end tells, with a
 * transfer coding (RFC 9112 section 6.3).
 */
export function declaredBytes({ headers }: IncomingMessage): number | null {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : null
}

/** Tells a client that waits with its body (`Expect: 100-continue`) to send it. */
export function inviteBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { expect } = incoming.headers
  if (expect === undefined || !expectsContinue(expect) || declaredBytes(incoming) === 0) return
  if (!outgoing.headersSent && !outgoing.destroyed) outgoing.writeContinue()
}

/**
 * A body that has arrived whole with the headers of its request, as small ones do; null where it has not. To be asked
 * once the request's own event is over: the parser comes to the body behind it.
 */
export function bodyAtHand(incoming: IncomingMessage, declared: number | null): Buffer | null {
  if (declared === 0 || incoming.readableLength !== declared) return null
  const body: unknown = incoming.read()
  return Buffer.isBuffer(body) ? body : null
}

/**
 * A request's body as a stream of its own. undici destroys the body of a failed request; destroying the
 * request itself would take the client's connection, and with it the answer that tells what went wrong. `onLate`
 * is called where the client sends it too slowly; what waits for the upstream is not the client's doing.
 */
export function uploadOf(
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
  upload.on('error', () => {
    // undici hears it too; without a listener here one that comes late would end the process.
  })
  return upload
}
