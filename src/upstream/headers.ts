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
  const replaced = new Set<string>()
  for (const name in overrides) replaced.add(name)
  for (const [name] of configured) replaced.add(name.toLowerCase())
  const headers: string[] = []
  passOn(headers, rawHeaders, options.forwardCredential ? notForUpstream : notForOthers, replaced)
  for (const [name, value] of configured) add(headers, name, value)
  for (const name in overrides) add(headers, name, overrides[name] ?? null)
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
  const replaced = new Set<string>()
  for (const name in own) replaced.add(name)
  // A list: ours is added to the upstream's.
  replaced.delete('vary')
  for (const name of drop) replaced.add(name)
  // A length beside a transfer coding is void (RFC 9112 section 6.3).
  if (headerValue(rawHeaders, 'transfer-encoding') !== null) replaced.add('content-length')
  const headers: string[] = []
  passOn(headers, rawHeaders, nothing, replaced)
  for (const name in own) {
    const value = own[name] ?? ''
    headers.push(name, printable.test(value) ? value : value.replace(unprintable, escaped))
  }
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

/** What is to be known of the name of a header wherever it is passed on. */
type HeaderName = {
  readonly lower: string
  /** Whether anybody could send it on: a token (RFC 9110 section 5.1). */
  readonly isToken: boolean
  /** Whether it belongs to the connection, to a proxy on the way or to Foldgate, and stays here whatever it says. */
  readonly stays: boolean
}

/** @internal exported for tests. The same few names come with each request: of each is found out once what it is. */
export function headerNameOf(name: string): HeaderName {
  const known = names.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const stays = hopByHop.has(lower) || lower.startsWith('proxy-') || lower.startsWith(ownPrefix)
  const made = { lower, isToken: token.test(name), stays }
  if (name.length > NAME_CHARS_MAX) return made
  if (names.size >= NAMES_MAX) names.clear()
  names.set(name, made)
  return made
}

// --- internal ---

function add(headers: string[], name: string, value: string | null): void {
  if (value !== null && headerNameOf(name).isToken && line.test(value)) headers.push(name, value)
}

/** `host` and the length are made anew; undici refuses `expect`, which Foldgate answers itself. */
const notForUpstream: ReadonlySet<string> = new Set(['host', 'content-length', 'expect'])

/** The same where an upstream may not see the client's credential. */
const notForOthers: ReadonlySet<string> = new Set([...notForUpstream, ...credentialHeaders])

const nothing: ReadonlySet<string> = new Set()

/**
 * Adds to `headers` those that go on: without those that stay here whatever they say, those that are replaced, those
 * that the connection header names, and those that nobody could send on. Names are in lower case.
 */
function passOn(
  headers: string[],
  rawHeaders: readonly string[],
  staying: ReadonlySet<string>,
  replaced: ReadonlySet<string>,
): void {
  const named = namedByConnection(rawHeaders)
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const value = rawHeaders[at + 1] ?? ''
    const { lower, stays, isToken } = headerNameOf(name)
    if (stays || !isToken || staying.has(lower) || replaced.has(lower) || named.has(lower)) continue
    if (line.test(value)) headers.push(name, value)
  }
}

function namedByConnection(rawHeaders: readonly string[]): ReadonlySet<string> {
  let named: Set<string> | null = null
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (headerNameOf(rawHeaders[at] ?? '').lower !== 'connection') continue
    const value = rawHeaders[at + 1] ?? ''
    // Nearly every one says only this, which names nothing that is not dropped anyway.
    if (value === 'keep-alive') continue
    named ??= new Set()
    for (const token of value.split(',')) named.add(token.trim().toLowerCase())
  }
  return named ?? nothing
}

/** A value in a line, without line breaks or other control characters (RFC 9110 section 5.5). */
const line = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** What could end a header or upset a reader: it is percent-encoded. */
const unprintable = /[^\u0020-\u007e]/gu
const printable = /^[\u0020-\u007e]*$/

function escaped(character: string): string {
  return [...Buffer.from(character, 'utf8')]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('')
}

const names = new Map<string, HeaderName>()

/** Then they are gathered anew: clients and servers name headers as they like. */
const NAMES_MAX = 1_000
const NAME_CHARS_MAX = 64

const ownPrefix = 'x-foldgate-'

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])
