import type { ServerResponse } from 'node:http'
import { errorBody, httpStatusOf, type FoldgateError } from '../../errors.ts'

/**
 * Answers with an error of Foldgate's own. Where an answer has begun the connection is cut instead: a
 * broken answer must not look like a whole one. The rest of an upload is taken for a while, so that the
 * client reads the answer and not a reset connection.
 */
export function answerError(
  outgoing: ServerResponse,
  error: FoldgateError,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (outgoing.destroyed || outgoing.writableEnded) return
  if (outgoing.headersSent) {
    outgoing.destroy()
    return
  }
  const body = Buffer.from(errorBody(error), 'utf8')
  const retryAfterSeconds = retryAfterSecondsOf[error.code]
  outgoing.writeHead(httpStatusOf[error.code], {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(httpStatusOf[error.code] === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...headers,
  })
  if (outgoing.req.complete) outgoing.end(body)
  else endBehindUpload(outgoing, body)
}

// --- internal ---

/** How long the rest of an unwanted upload is read and dropped before the connection is cut, in milliseconds. */
const lingerMs = 2_000

/** What a client is told to wait before it tries again, in seconds. */
const retryAfterSecondsOf: Partial<Record<FoldgateError['code'], number>> = { overloaded: 1, draining: 2 }

/** Sends the whole answer at once, and takes the rest of the upload. */
function endBehindUpload(outgoing: ServerResponse, body: Buffer): void {
  const incoming = outgoing.req
  // With the end of the last answer Node closes the connection, and what the client still sends would reset it before
  // it has read that answer.
  if (outgoing.shouldKeepAlive) outgoing.end(body)
  else outgoing.write(body)
  incoming.resume()
  const timer = setTimeout(() => incoming.socket.destroy(), lingerMs)
  timer.unref()
  incoming.once('end', () => outgoing.end())
  for (const event of ['end', 'close'] as const) incoming.once(event, () => clearTimeout(timer))
}
