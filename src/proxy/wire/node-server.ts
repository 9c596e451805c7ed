import { createServer, type IncomingMessage, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { errorBody, FoldgateError, httpStatusOf } from '../../errors.ts'
import { answerMalformed } from './malformed.ts'

export type ServerLimits = {
  /** How long a request's headers may take to arrive, in milliseconds. */
  readonly headersMs: number
  /** Largest request headers, in bytes. */
  readonly headerBytesMax: number
}

/** Node's own server around a router. What never reaches the router is answered in the shape of all errors. */
export function serverAround(
  fetch: Parameters<typeof getRequestListener>[0],
  { headersMs, headerBytesMax }: ServerLimits,
): Server {
  const listener = getRequestListener(fetch, {
    hostname: 'localhost',
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    errorHandler: () => refusedBeforeRouting(),
  })
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
  server.on('request', (incoming, outgoing) => void listener(incoming, outgoing))
  // The client is told to go on when its body is wanted (`inviteBody`): a refusal then costs it no upload.
  for (const expectation of ['checkContinue', 'checkExpectation'] as const) {
    server.on(expectation, (incoming, outgoing) => {
      server.emit('request', incoming, outgoing)
    })
  }
  return server
}

/**
 * What Node would refuse with an empty answer, or takes although nobody means it: a version that is not spoken here, not
 * one `Host` (RFC 9112 section 3.2), an expectation nobody knows.
 */
export function requireSense({ httpVersion, headers, rawHeaders }: IncomingMessage): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    // Node's parser takes a line without a version for HTTP/0.9, and `HTTP/2.0` for a version of this protocol.
    throw new FoldgateError('malformed_request', 'The request is not in HTTP/1.1 or HTTP/1.0.')
  }
  if (namesTwoHosts(rawHeaders)) {
    throw new FoldgateError('malformed_request', 'The request has more than one Host header.', {
      param: 'host',
    })
  }
  if (httpVersion === '1.0') return
  if (headers.host === undefined) {
    throw new FoldgateError('malformed_request', 'The request has no Host header, which HTTP/1.1 demands.', {
      param: 'host',
    })
  }
  if (headers.expect === undefined || /\b100-continue\b/i.test(headers.expect)) return
  throw new FoldgateError(
    'invalid_header',
    'The request expects something that Foldgate does not know: the header may say 100-continue only.',
    { param: 'expect' },
  )
}

// --- internal ---

/** Longer than the idle times of common load balancers, so that they close first, in milliseconds. */
const keepAliveMs = 75_000

/** How often slow headers are looked for at most, in milliseconds. */
const headersCheckMsMin = 50

/** Node takes the first of them, and whoever stands in front may have taken the other. */
function namesTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 'host'.length && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

/** A target or `Host` of which no URL can be made. */
function refusedBeforeRouting(): Response {
  const error = new FoldgateError('malformed_request', "The request's target or Host header is not valid.")
  return new Response(errorBody(error), {
    status: httpStatusOf[error.code],
    headers: { 'content-type': 'application/json' },
  })
}
