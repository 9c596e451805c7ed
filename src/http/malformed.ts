import type { Duplex } from 'node:stream'
import { errorBody, FoldgateError, httpStatusOf } from '../errors.ts'

export type HeaderLimits = {
  /** How long a request's headers may take to arrive, in milliseconds. */
  readonly headersMs: number
  /** Largest request headers, in bytes. */
  readonly headerBytesMax: number
}

/** What Node's parser gave up on: a bad request, or headers that are too large or too slow. */
export function malformation(
  error: NodeJS.ErrnoException,
  { headersMs, headerBytesMax }: HeaderLimits,
): FoldgateError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new FoldgateError(
        'headers_too_large',
        `The request's headers are larger than ${headerBytesMax / 1024} kB.`,
      )
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new FoldgateError(
        'headers_timeout',
        `The request's headers were not complete within ${headersMs / 1000} s (limits.headers_s).`,
      )
    case undefined:
    default:
      return new FoldgateError('malformed_request', 'The request is not valid HTTP/1.1.')
  }
}

/** Answers where there is no request object to answer, and closes the connection. */
export function endWith(socket: Duplex, error: FoldgateError): void {
  const body = errorBody(error)
  const head = [
    `HTTP/1.1 ${httpStatusOf[error.code]} ${error.code}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
