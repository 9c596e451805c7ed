import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FoldgateError } from '../errors.ts'
import { answerMalformed } from './malformed.ts'
import { boundPipelining, type RequestListener } from './pipelining.ts'
import { faultOf } from './request-checks.ts'

export type ServerLimits = {
  /** How long a request's headers may take to arrive, in milliseconds. */
  readonly headersMs: number
  /** Largest request headers, in bytes. */
  readonly headerBytesMax: number
}

/** Node's own server around a listener. A request that never reaches it is answered in the shape of all errors. */
export function serverAround(listener: RequestListener, { headersMs, headerBytesMax }: ServerLimits): Server {
  const server = createServer({
    headersTimeout: headersMs,
    // Long uploads and answers are bounded by what they do, not by how long they take as a whole.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.max(headersCheckMsMin, Math.min(headersMs / 2, 30_000)),
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: headerBytesMax,
    // Refused by `requireSense`, in the shape of all errors.
    requireHostHeader: false,
  })
  answerMalformed(server, headersMs, headerBytesMax)
  const ending = new WeakSet<Socket>()
  const answer = boundPipelining(listener)
  server.on('request', (incoming, outgoing) => {
    // A client that breaks these rules may also end its requests elsewhere: bytes behind such a request are not read as
    // another one.
    if (ending.has(incoming.socket)) return
    const fault = faultOf(incoming)
    if (fault !== null) {
      faults.set(incoming, fault)
      ending.add(incoming.socket)
      outgoing.shouldKeepAlive = false
    }
    answer(incoming, outgoing)
  })
  // The client is told to go on when its body is wanted (`inviteBody`): a refusal then costs it no upload.
  for (const expectation of ['checkContinue', 'checkExpectation'] as const) {
    server.on(expectation, (incoming, outgoing) => {
      server.emit('request', incoming, outgoing)
    })
  }
  return server
}

/** Refuses what makes no sense (`faultOf`). Throws `malformed_request` or `invalid_header`. */
export function requireSense(incoming: IncomingMessage): void {
  const fault = faults.get(incoming)
  if (fault !== undefined) throw fault
}

// --- internal ---

/** Of the requests that make no sense: why. */
const faults = new WeakMap<IncomingMessage, FoldgateError>()

/** Longer than the idle times of common load balancers, so that they close first, in milliseconds. */
const keepAliveMs = 75_000

/** How often slow headers are looked for at most, in milliseconds. */
const headersCheckMsMin = 50
