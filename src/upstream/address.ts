import { isIPv4 } from 'node:net'
import { isAnthropic } from './anthropic.ts'

/**
 * Where an upstream is, taken apart once at the start. Requests are joined to it as bytes (`target.ts`), so
 * that nothing a client sends can change scheme, host or port.
 */
export type UpstreamAddress = {
  /** Scheme, host and port, as undici wants them. */
  readonly origin: string
  /** The URL's own path without a slash at its end; empty for the root. */
  readonly path: string
  /** Without a port. */
  readonly hostname: string
  /** For messages and the log. */
  readonly display: string
  /** The machine itself: never reached through an HTTP proxy. */
  readonly loopback: boolean
  /** One of Anthropic's own servers. */
  readonly isAnthropic: boolean
}

/** Takes the URL of an upstream's settings apart: http or https, without user info, query and fragment. */
export function parseUpstreamAddress(text: string): UpstreamAddress {
  const { origin, hostname, pathname } = new URL(text)
  const path = pathname.replace(/\/+$/, '')
  return {
    origin,
    path,
    hostname,
    display: origin + path,
    loopback: isLoopbackName(hostname),
    isAnthropic: isAnthropic(hostname),
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
