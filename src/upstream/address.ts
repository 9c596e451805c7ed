import { isIPv4 } from 'node:net'

/**
 * Where an upstream is, taken apart once at the start. Requests are joined to it as bytes (`target.ts`), so
 * that nothing a client sends can change scheme, host or port.
 */
export type UpstreamAddress = {
  /** Scheme, host and port, as undici wants them. */
  readonly origin: string
  /** The URL's own path without a slash at its end; empty for the root. */
  readonly path: string
  /** The URL's own query without the question mark; it is sent with every request, before the client's. */
  readonly query: string
  /** `Basic …` when the URL names a user, else null. */
  readonly authorization: string | null
  /** Without a port. */
  readonly hostname: string
  /** For messages and the log: without user info and query. */
  readonly display: string
  /** The machine itself: never reached through an HTTP proxy. */
  readonly loopback: boolean
}

/** Takes an upstream's URL apart. Throws a TypeError for anything that is no http or https address. */
export function parseUpstreamAddress(text: string): UpstreamAddress {
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`An upstream is an http or https address, not ${url.protocol}`)
  }
  const path = url.pathname.replace(/\/+$/, '')
  return {
    origin: url.origin,
    path,
    query: url.search.slice(1),
    authorization: basicAuthorization(url),
    hostname: url.hostname,
    display: `${url.origin}${path}`,
    loopback: isLoopbackName(url.hostname),
  }
}

/**
 * Whether a host name, without a port, can only mean this machine (RFC 6761 section 6.3). What is no name is none of
 * its names, whatever it ends with.
 */
export function isLoopbackName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  if (name === '::1' || name === '[::1]') return true
  const labels = name.split('.')
  if (labels.at(-1) === 'localhost') return labels.every((label) => /^[a-z0-9_-]+$/.test(label))
  return isIPv4(name) && labels[0] === '127'
}

// --- internal ---

function basicAuthorization(url: URL): string | null {
  if (url.username === '' && url.password === '') return null
  const userInfo = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return `Basic ${Buffer.from(userInfo, 'utf8').toString('base64')}`
}
