import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { errorBody, FoldgateError, httpStatusOf } from '../errors.ts'
import { ClientPresence } from './exchange.ts'
import { expectsContinue } from './receive-body.ts'

/** `fault`: why the request makes no sense and is to be refused; null where it does. `client`: whether its client stays. */
export type RequestListener = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  fault: FoldgateError | null,
  client: ClientPresence,
) => unknown

export type PipeliningLimits = {
  /** Requests of one connection that are worked on at a time. */
  readonly atOnceMax: number
  /** Requests of one connection that were read and wait. */
  readonly waitingHereMax: number
  /** Requests of all connections that were read and wait. */
  readonly waitingMax: number
}

/**
 * Node's own server around a listener. What Node's parser gives up on never reaches it: that is answered here, in the
 * shape of all errors.
 *
 * It bounds how many requests of one connection are worked on at a time, however many it sends before the first is answered.
 * What comes beyond is not read from the connection; only what was read already waits here, as requests that nobody has
 * looked at, and takes no place. A connection on which too many wait is closed, and where too many wait on all connections together,
 * the one on which most do. When a connection closes, all answers to it do.
 */
export function serverAround(
  listener: RequestListener,
  limits: HeaderLimits,
  { atOnceMax, waitingHereMax, waitingMax }: PipeliningLimits = defaults,
): Server {
  const server = createServer({
    headersTimeout: limits.headersMs,
    // Long uploads and answers are bounded by what they do, not by how long they take as a whole.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.max(headersCheckMsMin, Math.min(limits.headersMs / 2, 30_000)),
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: limits.headerBytesMax,
    // Refused by `faultOf`, in the shape of all errors.
    requireHostHeader: false,
  })
  const connections = new WeakMap<Duplex, Connection>()
  const crowded = new Set<Connection>()
  let waitingTotal = 0

  function follow(socket: Socket): void {
    const connection: Connection = {
      socket,
      running: new Set(),
      waiting: [],
      last: null,
      goesOn: false,
      isEnding: false,
      isClosing: false,
    }
    connections.set(socket, connection)
    // Node's parser has a connection read on behind every request, at once and a moment later.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause()
    })
    socket.once('close', () => {
      forgetWaiting(connection)
      setImmediate(closeForgotten, connection.running)
    })
  }

  function forgetWaiting(connection: Connection): void {
    waitingTotal -= connection.waiting.length
    connection.waiting = []
    crowded.delete(connection)
  }

  function takeInTurn(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming
    const connection = connections.get(socket)
    if (connection === undefined || connection.isEnding || socket.destroyed) return
    const fault = faultOf(incoming)
    if (fault !== null) {
      // A client that breaks these rules may also end its requests elsewhere: bytes behind such a request are not read as
      // another one.
      connection.isEnding = true
      outgoing.shouldKeepAlive = false
    }
    connection.last = outgoing
    if (connection.running.size < atOnceMax && connection.waiting.length === 0) {
      begin(connection, outgoing, fault)
      return
    }
    connection.waiting.push({ outgoing, fault })
    waitingTotal += 1
    crowded.add(connection)
    socket.pause()
    const isTooMany = connection.waiting.length > waitingHereMax
    if (!isTooMany && waitingTotal <= waitingMax) return
    const closed = isTooMany ? connection : mostCrowded(crowded, connection)
    forgetWaiting(closed)
    closed.socket.destroy()
  }

  function begin(connection: Connection, outgoing: ServerResponse, fault: FoldgateError | null): void {
    outgoing.req.on('error', ignore)
    outgoing.on('error', ignore)
    connection.running.add(outgoing)
    const client = new ClientPresence(outgoing)
    client.whenOver(() => {
      connection.running.delete(outgoing)
      // A connection that is kept open keeps nothing of what went over it.
      if (connection.last === outgoing && outgoing.req.complete) connection.last = null
      if (connection.waiting.length === 0 || connection.goesOn) return
      connection.goesOn = true
      // Not at once: a thousand refusals in a row would keep everybody else waiting.
      setImmediate(goOn, connection)
    })
    void listener(outgoing.req, outgoing, fault, client)
  }

  function goOn(connection: Connection): void {
    connection.goesOn = false
    const next = connection.waiting.splice(0, atOnceMax - connection.running.size)
    waitingTotal -= next.length
    for (const { outgoing, fault } of next) begin(connection, outgoing, fault)
    if (connection.waiting.length > 0) return
    crowded.delete(connection)
    connection.socket.resume()
  }

  function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = connections.get(socket)
    const isGone = error.code === 'ECONNRESET' || !socket.writable || socket.readableEnded
    if (connection === undefined || isGone) {
      socket.destroy()
      return
    }
    const unfinished = unfinishedOn(connection)
    const whole = unfinished.findLast(({ req }) => req.complete)
    if (whole !== undefined) {
      // Every further piece is an error again.
      if (connection.isClosing) return
      connection.isClosing = true
      // Requests that came whole are answered first, in their order: what follows the last of them is none of theirs.
      if (whole.closed) socket.destroySoon()
      else whole.once('close', () => socket.destroySoon())
    }
    // An answer on its way must not get another one into its middle.
    else if (unfinished.some(({ headersSent }) => headersSent)) socket.destroy()
    else endWith(socket, malformation(error, limits))
  }

  server.on('connection', follow)
  server.on('request', takeInTurn)
  // The client is told to go on when its body is wanted (`inviteBody`): a refusal then costs it no upload.
  server.on('checkContinue', takeInTurn)
  server.on('checkExpectation', takeInTurn)
  server.on('clientError', (error, socket: Socket) => answerMalformed(error, socket))
  server.on('connect', (_incoming, socket) => {
    socket.on('error', () => socket.destroy())
    endWith(
      socket,
      new FoldgateError('path_not_allowed', 'Foldgate opens no tunnels: CONNECT is not served.'),
    )
  })
  return server
}

// --- internal ---

/** Longer than the idle times of common load balancers, so that they close first, in milliseconds. */
const keepAliveMs = 75_000

/** How often slow headers are looked for at most, in milliseconds. */
const headersCheckMsMin = 50

/**
 * Clients that send ahead at all send a few requests. What is read at once is 64 kB, in which the smallest requests are two
 * to three thousand; each of them waits in about two kilobytes.
 */
const defaults: PipeliningLimits = { atOnceMax: 16, waitingHereMax: 2_048, waitingMax: 8_192 }

type Connection = {
  readonly socket: Socket
  /** The answers that have begun and are not over, in their order. */
  readonly running: Set<ServerResponse>
  waiting: { readonly outgoing: ServerResponse; readonly fault: FoldgateError | null }[]
  /** The answer to the request that came last; null once both are over. */
  last: ServerResponse | null
  /** Whether it is to go on with what waits in a moment. */
  goesOn: boolean
  /** Whether a request made no sense: no other one is taken. */
  isEnding: boolean
  /** Whether it is to be closed behind the requests that came whole. */
  isClosing: boolean
}

function ignore(): void {
  // The `close` of the answer tells that the client left; an error without a listener would end the process.
}

/** Not the one whose request came last: it may be a neighbour's. */
function mostCrowded(crowded: Iterable<Connection>, among: Connection): Connection {
  let most = among
  for (const each of crowded) if (each.waiting.length > most.waiting.length) most = each
  return most
}

/** Node 22 says nothing to the answers behind the one that was under way. */
function closeForgotten(running: ReadonlySet<ServerResponse>): void {
  for (const outgoing of running) {
    outgoing.destroy()
    outgoing.emit('close')
  }
}

/**
 * The answers whose exchange is not over, in their order: the answer is under way, or the request is. Only the last
 * request of a connection can still be sent when it is answered.
 */
function unfinishedOn({ running, waiting, last }: Connection): readonly ServerResponse[] {
  const unfinished = [...running, ...waiting.map(({ outgoing }) => outgoing)]
  const isOver = last === null || (last.closed && last.req.closed)
  return isOver || unfinished.includes(last) ? unfinished : [...unfinished, last]
}

type HeaderLimits = {
  /** How long a request's headers may take to arrive, in milliseconds. */
  readonly headersMs: number
  /** Largest request headers, in bytes. */
  readonly headerBytesMax: number
}

/** What Node's parser gave up on: a bad request, or headers that are too large or too slow. */
function malformation(
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

/**
 * What Node would refuse with an empty answer, or takes although nobody means it: a version that is not spoken here, not
 * one `Host` (RFC 9112 section 3.2) or one that is none, a transfer coding that is not undone here (section 6.1), an expectation nobody knows.
 * Null where a request has nothing of it.
 */
function faultOf({ httpVersion, headers, rawHeaders }: IncomingMessage): FoldgateError | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    // Node's parser takes a line without a version for HTTP/0.9, and `HTTP/2.0` for a version of this protocol.
    return malformed('The request is not in HTTP/1.1 or HTTP/1.0.')
  }
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 'host'.length && name.toLowerCase() === 'host') hosts += 1
  }
  // Node takes the first of several, and whoever stands in front may have taken the other.
  if (hosts > 1) return malformed('The request has more than one Host header.', 'host')
  if (hosts === 0 && httpVersion === '1.1')
    return malformed('The request has no Host header, which HTTP/1.1 demands.', 'host')
  const { host = '' } = headers
  if (!/^[\w.-]*(?::\d{1,5})?$/.test(host) && !isAddress(host))
    return malformed('The Host header is no name or address, with or without a port.', 'host')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    // Node undoes the chunks of `gzip, chunked` and leaves the rest: sent on like that it would be another body.
    return malformed(
      'The request has a transfer coding that Foldgate does not know: it may be chunked, in HTTP/1.1 only.',
      'transfer-encoding',
    )
  }
  if (headers.expect === undefined || httpVersion === '1.0' || expectsContinue(headers.expect)) return null
  return new FoldgateError(
    'invalid_header',
    'The request expects something that Foldgate does not know: the header may say 100-continue only.',
    { param: 'expect' },
  )
}

function malformed(message: string, param?: string): FoldgateError {
  return new FoldgateError('malformed_request', message, param === undefined ? {} : { param })
}

/** Whether this is an address as everybody reads it. */
function isAddress(host: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false
  return new URL(`http://${host}`).hostname === host.toLowerCase().replace(/:\d*$/, '')
}
