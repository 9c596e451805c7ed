import type { ServerResponse } from 'node:http'
import type { FoldgateError } from '../errors.ts'
import type { ClientAnswer, Delivery } from '../pipeline/client-request.ts'
import { isStreamType } from '../upstream/answer-head.ts'
import { headerValue } from '../upstream/credential.ts'
import { responseHeaders } from '../upstream/headers.ts'
import { answerError } from './answer-error.ts'
import type { Exchange } from './exchange.ts'

/**
 * Gives an upstream's answer to the client as it comes: status and headers at once, then the body with
 * backpressure. An answer that breaks off takes the client's connection with it, so that it never looks
 * whole; a client that leaves cancels the upstream's answer. A client that takes nothing of what waits for it for
 * `stallMs` is cut off: it holds a place that others need. Never rejects.
 */
export function deliver(
  exchange: Exchange,
  { answer, held, headers: own, transform, tap }: ClientAnswer,
  stallMs: number,
): Promise<Delivery> {
  const { outgoing, signal } = exchange
  const { body } = answer
  const { promise, resolve } = Promise.withResolvers<Delivery>()
  let bytes = 0
  /** Whether nothing more is to be given. */
  let isOver = false
  let failure: FoldgateError | null = null
  let stallTimer: NodeJS.Timeout | null = null
  let headers: readonly string[] = []
  /** What leaves with the headers, while these wait for what is there by now. */
  let first: Buffer | null = null
  let isBeginning = true
  let changing = transform
  let overdueTimer: NodeJS.Timeout | null = null

  /** The answer is closed, however it ended. */
  function settle(): void {
    isOver = true
    if (stallTimer !== null) clearTimeout(stallTimer)
    if (overdueTimer !== null) clearTimeout(overdueTimer)
    const isFinished = outgoing.writableFinished
    if (!isFinished) body.destroy()
    const outcome = failure !== null ? 'broken-off' : isFinished ? 'finished' : 'client-gone'
    resolve({ outcome, bytes, error: failure })
  }
  function breakOff(error: unknown): void {
    if (isOver) return
    isOver = true
    if (!signal.aborted) failure = answer.failure(error)
    giveLeft('broken')
    giveFirst()
    // What was written in this very tick is on its way by then.
    process.nextTick(() => cutOff(outgoing, headers))
  }
  function give(piece: Buffer): void {
    if (piece.length === 0 || outgoing.destroyed) return
    bytes += piece.length
    if (isBeginning && first === null && piece.length <= FIRST_BYTES_MAX) {
      first = piece
      return
    }
    giveFirst()
    if (!outgoing.write(piece)) waitForClient()
  }
  function giveFirst(): void {
    isBeginning = false
    if (first !== null && !outgoing.write(first.toString('latin1'), 'latin1')) waitForClient()
    first = null
  }
  /** A transform that throws is done with. */
  function changed(work: () => Buffer, instead: Buffer): Buffer {
    try {
      return work()
    } catch {
      changing = null
      return instead
    }
  }
  /** Gives what a transform still holds. */
  function giveLeft(of: 'end' | 'overdue' | 'broken'): void {
    if (changing !== null) give(changed(changing[of], nothing))
  }
  function write(piece: Buffer): void {
    if (isOver || piece.length === 0) return
    const by = changing
    give(by === null ? piece : changed(() => by.feed(piece), piece))
    if (by !== null) overdueTimer = overdueTimer?.refresh() ?? setTimeout(giveLeft, OVERDUE_MS, 'overdue')
    try {
      tap?.(piece)
    } catch {
      // Watching must not harm what is watched; observers count their own failures.
    }
  }
  /** The client has to take some of it before more is given. */
  function waitForClient(): void {
    if (isOver || stallTimer !== null) return
    body.pause()
    stallTimer = setTimeout(() => outgoing.destroy(), stallMs)
    outgoing.once('drain', flow)
  }
  function flow(): void {
    if (stallTimer !== null) clearTimeout(stallTimer)
    stallTimer = null
    body.resume()
  }
  function finish(): void {
    if (isOver) return
    giveLeft('end')
    // As a text it leaves with the headers in one piece, bytes would not.
    if (first === null) outgoing.end()
    else outgoing.end(first.toString('latin1'), 'latin1')
    first = null
    // The last of it may wait for the client, too: behind an earlier answer from when it is this one's turn.
    if (outgoing.socket === null) outgoing.once('socket', waitForClient)
    else if (outgoing.socket.writableLength > 0) waitForClient()
  }

  if (outgoing.destroyed || signal.aborted) {
    settle()
    return promise
  }
  signal.whenOver(settle)
  try {
    headers = writeHead(exchange, answer, own, transform !== null)
  } catch (error) {
    // A status below 100 passes undici's parser, but nobody can send it on.
    failure = answer.failure(error)
    body.destroy()
    answerError(outgoing, failure, exchange.answerHeaders)
    return promise
  }
  // Such an answer has no body (RFC 9110 section 6.4.1).
  if (exchange.method === 'HEAD' || answer.status === 204 || answer.status === 304) {
    body.read({ piece: () => {}, end: () => {}, broken: () => {} })
    finish()
    return promise
  }
  for (const piece of held) write(piece)
  body.read({ piece: write, end: finish, broken: breakOff })
  // What is there by now leaves in one piece with the headers; else these do not wait for it. They leave before the
  // connection is cut off, too: many clients repeat a request on which a connection closed without a word.
  if (bytes === 0) outgoing.flushHeaders()
  giveFirst()
  return promise
}

// --- internal ---

/** Up to so many bytes of a body leave with its headers as one text. */
const FIRST_BYTES_MAX = 16_384

/** How long what is complete may wait for the next piece, in milliseconds: that usually comes in the same breath. */
const OVERDUE_MS = 250

const nothing = Buffer.alloc(0)

/** Returns the headers. */
function writeHead(
  { outgoing, answerHeaders }: Exchange,
  answer: ClientAnswer['answer'],
  headers: ClientAnswer['headers'],
  isChanged: boolean,
): readonly string[] {
  const own: Record<string, string> = { ...answerHeaders, ...headers }
  if (answer.hint !== null) own['x-foldgate-hint'] = answer.hint
  const isStream = isStreamType(headerValue(answer.rawHeaders, 'content-type') ?? '')
  // Reverse proxies in front would collect a stream before they pass it on.
  if (isStream && headerValue(answer.rawHeaders, 'x-accel-buffering') === null)
    own['x-accel-buffering'] = 'no'
  // A body that is changed on its way has another length than the upstream states.
  const drop = isChanged ? ['content-length'] : []
  const sent = responseHeaders({ rawHeaders: answer.rawHeaders, own, drop })
  // The date is the upstream's to state.
  outgoing.sendDate = false
  const statusText = answer.statusText.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '')
  outgoing.writeHead(answer.status, statusText, sent)
  return sent
}

/**
 * Ends a connection in the middle of an answer. Where the end of the connection is the end of the body
 * (HTTP/1.0), only a reset tells the client that something is missing.
 */
function cutOff(outgoing: ServerResponse, headers: readonly string[]): void {
  const { socket, chunkedEncoding } = outgoing
  const endsWithConnection = !chunkedEncoding && headerValue(headers, 'content-length') === null
  if (endsWithConnection && socket !== null && 'resetAndDestroy' in socket) socket.resetAndDestroy()
  outgoing.destroy()
}
