import type { IncomingMessage } from 'node:http'
import { FoldgateError } from '../errors.ts'

/**
 * What Node would refuse with an empty answer, or takes although nobody means it: a version that is not spoken here, not
 * one `Host` (RFC 9112 section 3.2) or one that is none, a transfer coding that is not undone here (section 6.1), an expectation nobody knows.
 * Null where a request has nothing of it.
 */
export function faultOf({ httpVersion, headers, rawHeaders }: IncomingMessage): FoldgateError | null {
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

/** Whether a client waits with its body until it is told to go on, and expects nothing else (RFC 9110 section 10.1.1). */
export function expectsContinue(expect: string): boolean {
  return /^100-continue(?:[\t ]*,[\t ]*100-continue)*$/i.test(expect)
}

// --- internal ---

function malformed(message: string, param?: string): FoldgateError {
  return new FoldgateError('malformed_request', message, param === undefined ? {} : { param })
}

/** Whether this is an address as everybody reads it. */
function isAddress(host: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false
  return new URL(`http://${host}`).hostname === host.toLowerCase().replace(/:\d*$/, '')
}
