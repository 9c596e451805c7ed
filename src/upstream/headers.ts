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
  const { rawHeaders, configured, overrides = {}, bodyBytes } = options
  const replaced = new Set(Object.keys(overrides))
  for (const [name] of configured) replaced.add(name.toLowerCase())
  const staying = options.forwardCredential ? notForUpstream : notForOthers
  const headers = passedOn(rawHeaders, staying, replaced)
  for (const [name, value] of [...configured, ...Object.entries(overrides)])
    if (value !== null && sendable.test(`${name}\n${value}`)) headers.push(name, value)
  if (bodyBytes !== null) headers.push('content-length', String(bodyBytes))
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
export function responseHeaders({ rawHeaders, own, drop = [] }: ResponseHeaderOptions): string[] {
  const replaced = new Set(Object.keys(own))
  // A list: ours is added to the upstream's.
  replaced.delete('vary')
  for (const name of drop) replaced.add(name)
  // A length beside a transfer coding is void (RFC 9112 section 6.3).
  if (headerValue(rawHeaders, 'transfer-encoding') !== null) replaced.add('content-length')
  const headers = passedOn(rawHeaders, hopByHop, replaced)
  for (const name of Object.keys(own)) headers.push(name, (own[name] ?? '').replace(unprintable, escaped))
  return headers
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
const notForUpstream: ReadonlySet<string> = new Set([...hopByHop, 'host', 'content-length', 'expect'])

/** The same where an upstream may not see the client's credential. */
const notForOthers: ReadonlySet<string> = new Set([...notForUpstream, ...credentialHeaders])

/**
 * The headers that go on, as a flat list: without those that stay here whatever they say, those that are replaced, those
 * that the connection header names, and those that nobody could send on. Names are in lower case.
 */
function passedOn(
  rawHeaders: readonly string[],
  staying: ReadonlySet<string>,
  replaced: Set<string>,
): string[] {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length !== 'connection'.length || name.toLowerCase() !== 'connection') continue
    for (const token of (rawHeaders[at + 1] ?? '').split(',')) replaced.add(token.trim().toLowerCase())
  }
  const headers: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const value = rawHeaders[at + 1] ?? ''
    const lower = name.toLowerCase()
    if (staying.has(lower) || replaced.has(lower)) continue
    if (lower.startsWith('proxy-') || lower.startsWith(ownPrefix)) continue
    if (sendable.test(`${name}\n${value}`)) headers.push(name, value)
  }
  return headers
}

/** A name and a value, each in a line (RFC 9110 sections 5.1 and 5.5): a token, and a value without line breaks or other control characters. */
const sendable = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+\n[\t\u0020-\u007e\u0080-\u00ff]*$/

/** What could end a header or upset a reader: it is percent-encoded. */
const unprintable = /[^\u0020-\u007e]/gu

function escaped(character: string): string {
  return [...Buffer.from(character, 'utf8')]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('')
}
