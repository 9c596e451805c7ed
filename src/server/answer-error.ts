import type { ServerResponse } from 'node:http'
import { errorBodyAt } from '../formats/formats.ts'
import { type FoldgateError, httpStatusOf } from '../errors.ts'
import { barePath } from '../upstream/target.ts'

/**
 * Answers with an error of Foldgate's own. Where an answer has begun the connection is cut instead: a
 * broken answer must not look like a whole one. The rest of an upload is taken for a while, so that the
 * client reads the answer and not a reset connection. It is written as the API at the path does that was asked for, if
 * nothing else is said.
 */
export function answerError(
  outgoing: ServerResponse,
  error: FoldgateError,
  headers: Readonly<Record<string, string>> = {},
  errorBody = errorBodyAt(barePath(outgoing.req.url ?? '').replace(upstreamName, '')),
): void {
  if (outgoing.destroyed || outgoing.writableEnded) return
  if (outgoing.headersSent) {
    outgoing.destroy()
    return
  }
  const body = errorBody(error)
  const retryAfterSeconds = retryAfterSecondsOf[error.code]
  const rest = outgoing.req.complete ? null : takeOverUpload(outgoing)
  outgoing.writeHead(httpStatusOf[error.code], {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(httpStatusOf[error.code] === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...headers,
  })
  // A text leaves with the headers in one piece, bytes would not.
  outgoing.end(body)
  cutOffUnread(outgoing)
  rest?.()
}

/**
 * Ends the connection of a client that does not read an answer of Foldgate's own (a refusal, a probe's, a preflight's),
 * which takes no place of the running requests. To be called when all of it is written. The answers before it have their
 * own time: the clock begins when it is next.
 */
export function cutOffUnread(outgoing: ServerResponse): void {
  if (outgoing.socket === null) {
    outgoing.once('socket', () => process.nextTick(cutOffUnread, outgoing))
    return
  }
  if (outgoing.socket.writableLength === 0) return
  const timer = setTimeout(() => outgoing.destroy(), unreadMs)
  outgoing.once('close', () => clearTimeout(timer))
}

// --- internal ---

/** It may have the name of an API. */
const upstreamName = /^\/u\/[^/]*/

/** How long a client may leave an answer unread that is on its way to it, in milliseconds. */
const unreadMs = 5_000

/** How long the rest of an unwanted upload is read and dropped before the connection is cut, in milliseconds. */
const lingerMs = 2_000

/** How long a client is told to wait before it tries again, in seconds. */
const retryAfterSecondsOf: Partial<Record<FoldgateError['code'], number>> = { overloaded: 1, draining: 2 }

/**
 * To be called before an answer is begun whose request is still being sent; returns what reads and drops the rest of it.
 * Node closes a connection with its last answer, and what the client goes on sending would then reset it before it has
 * read that answer: so Node is not told, and the connection is closed behind the upload.
 */
function takeOverUpload(outgoing: ServerResponse): () => void {
  const incoming = outgoing.req
  const isLast = !outgoing.shouldKeepAlive
  outgoing.shouldKeepAlive = true
  return function takeRest() {
    incoming.resume()
    const timer = setTimeout(() => incoming.socket.destroy(), lingerMs)
    timer.unref()
    // Answers to requests before this one may still be on their way.
    const close = () => incoming.socket.destroySoon()
    incoming.once('end', () => {
      if (isLast && outgoing.writableFinished) close()
      else if (isLast) outgoing.once('finish', close)
    })
    for (const event of ['end', 'close'] as const) incoming.once(event, () => clearTimeout(timer))
  }
}
