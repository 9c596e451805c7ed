import { credentialHeaders, headerValue } from './credential.ts'

export type RequestHeaderOptions = {
  /** The client's headers, name and value by turns, as they came. */
  readonly rawHeaders: readonly string[]
  /** Whether this upstream may see the client's credential. */
  readonly forwardCredential: boolean
  /** The upstream's configured headers and held key; they replace the client's of the same name. */
  readonly configured: readonly (readonly [string, string])[]
  /** The body's length in bytes; null where there is no body, or where it is sent in chunks. */
  readonly bodyBytes: number | null
  /** Headers by lower-case name that this request changes: a value replaces, null drops. */
  readonly overrides?: Readonly<Record<string, string | null>>
}

/**
 * The headers that the upstream gets, as a flat list: the client's own in their order and spelling, without
 * those that belong to the connection (RFC 9110 section 7.6.1) or to Foldgate. undici adds `host`.
 */
export function requestHeaders(options: RequestHeaderOptions): string[] {
  const { rawHeaders, configured, overrides = {} } = options
  const named = namedByConnection(rawHeaders)
  const headers: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const lower = name.toLowerCase()
    if (
      hopByHop.has(lower) ||
      lower.startsWith('proxy-') ||
      notForUpstream.has(lower) ||
      lower.startsWith(ownPrefix)
    )
      continue
    if (Object.hasOwn(overrides, lower) || named.includes(lower)) continue
    if (configured.some(([other]) => other.toLowerCase() === lower)) continue
    if (!options.forwardCredential && credentialHeaders.has(lower)) continue
    const value = rawHeaders[at + 1] ?? ''
    if (isSendable(name, value)) headers.push(name, value)
  }
  for (const [name, value] of configured) {
    if (isSendable(name, value)) headers.push(name, value)
  }
  for (const [name, value] of Object.entries(overrides)) {
    if (value !== null && isSendable(name, value)) headers.push(name, value)
  }
  if (options.bodyBytes !== null) headers.push('content-length', String(options.bodyBytes))
  return headers
}

export type ResponseHeaderOptions = {
  /** The upstream's headers, name and value by turns, as they came. */
  readonly rawHeaders: readonly string[]
  /** Foldgate's own headers; they replace the upstream's of the same name. */
  readonly own: Readonly<Record<string, string>>
  /** Lower-case names of headers that do not hold any more, such as the length of a changed body. */
  readonly drop?: readonly string[]
}

/**
 * The headers that the client gets, as a flat list for `writeHead`: the upstream's in their order and
 * spelling, without those of its connection, and with Foldgate's own behind them.
 */
export function responseHeaders(options: ResponseHeaderOptions): string[] {
  const { rawHeaders, own, drop = [] } = options
  const named = namedByConnection(rawHeaders)
  // A length beside a transfer coding is void (RFC 9112 section 6.3).
  const isChunked = headerValue(rawHeaders, 'transfer-encoding') !== null
  const headers: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const lower = name.toLowerCase()
    if (hopByHop.has(lower) || lower.startsWith('proxy-')) continue
    if (lower.startsWith(ownPrefix) || drop.includes(lower)) continue
    if (named.includes(lower) || (isChunked && lower === 'content-length')) continue
    // `vary` is a list: ours is added to the upstream's.
    if (lower !== 'vary' && Object.hasOwn(own, lower)) continue
    const value = rawHeaders[at + 1] ?? ''
    if (isSendable(name, value)) headers.push(name, value)
  }
  for (const name of Object.keys(own)) headers.push(name, printable(own[name] ?? ''))
  return headers
}

/**
 * A text as a header value: whatever could end the header or upset a reader is percent-encoded.
 *
 * @internal exported for tests
 */
export function printable(text: string): string {
  return text.replace(/[^\u0020-\u007e]/gu, (character) =>
    [...Buffer.from(character, 'utf8')]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  )
}

/**
 * The same headers as a record, repeated names as lists. undici's proxy agents keep only the last of
 * repeated names in a flat list.
 */
export function asRecord(rawHeaders: readonly string[]): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = Object.create(null)
  const spelling = new Map<string, string>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const lower = name.toLowerCase()
    const key = spelling.get(lower) ?? name
    spelling.set(lower, key)
    const earlier = record[key]
    if (earlier === undefined) record[key] = value
    else record[key] = Array.isArray(earlier) ? [...earlier, value] : [earlier, value]
  }
  return record
}

// --- internal ---

const ownPrefix = 'x-foldgate-'

const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

/** `host` and the length are made anew; undici refuses `expect`, which Foldgate answers itself. */
const notForUpstream: ReadonlySet<string> = new Set(['host', 'content-length', 'expect'])

function namedByConnection(rawHeaders: readonly string[]): readonly string[] {
  let named: string[] | null = null
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length !== 'connection'.length || name.toLowerCase() !== 'connection') continue
    named ??= []
    for (const token of (rawHeaders[at + 1] ?? '').split(',')) named.push(token.trim().toLowerCase())
  }
  return named ?? nothing
}

const nothing: readonly string[] = []

/** RFC 9110 sections 5.1 and 5.5: a token, and a value without line breaks or other control characters. */
function isSendable(name: string, value: string): boolean {
  return isToken.test(name) && !hasControl.test(value)
}

const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const hasControl = /[^\t\u0020-\u007e\u0080-\u00ff]/
