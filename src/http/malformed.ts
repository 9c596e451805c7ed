import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { errorBody, FoldgateError, httpStatusOf } from '../errors.ts'

/**
 * Answers what Node's parser gives up on, where there is no request object to answer: bad requests, headers
 * that are too large or too slow, and CONNECT.
 */
export function answerMalformed(server: Server, headersMs: number, headerBytesMax: number): void {
  /**
   * The answers of each connection whose exchange is not over: the answer is under way, or the request is. Clients may
   * send requests before the earlier ones are answered.
   */
  const answering = new WeakMap<Duplex, Set<ServerResponse>>()
  const answered = new WeakSet<ServerResponse>()
  const closing = new WeakSet<Duplex>()
  server.on('request', (incoming, outgoing) => {
    const { socket } = incoming
    const answers = answering.get(socket) ?? new Set()
    answering.set(socket, answers.add(outgoing))
    const forget = () => {
      if (answered.has(outgoing) && incoming.complete) answers.delete(outgoing)
    }
    incoming.once('close', forget)
    outgoing.once('close', () => {
      answered.add(outgoing)
      forget()
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const answers = [...(answering.get(socket) ?? [])]
    const whole = answers.findLast(({ req }) => req.complete)
    const isGone = error.code === 'ECONNRESET' || !socket.writable || socket.readableEnded
    // An answer on its way must not get another one into its middle.
    if (isGone || (whole === undefined && answers.some(({ headersSent }) => headersSent))) socket.destroy()
    else if (whole !== undefined) closeBehind(socket, whole)
    else endWith(socket, explain(error, headersMs, headerBytesMax))
  })
  /** Requests that came whole are answered first, in their order: what follows the last of them is none of theirs. */
  function closeBehind(socket: Socket, whole: ServerResponse): void {
    // Every further piece is an error again.
    if (closing.has(socket)) return
    closing.add(socket)
    if (answered.has(whole)) socket.destroySoon()
    else whole.once('close', () => socket.destroySoon())
  }
  server.on('connect', (_incoming, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    endWith(
      socket,
      new FoldgateError('path_not_allowed', 'Foldgate opens no tunnels: CONNECT is not served.'),
    )
  })
}

// --- internal ---

function explain(error: NodeJS.ErrnoException, headersMs: number, headerBytesMax: number): FoldgateError {
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

function endWith(socket: Duplex, error: FoldgateError): void {
  const body = errorBody(error)
  const head = [
    `HTTP/1.1 ${httpStatusOf[error.code]} ${error.code}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
