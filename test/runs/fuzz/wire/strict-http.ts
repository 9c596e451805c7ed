/** A message as it stood on the wire, read as RFC 9112 says and with none of the leniencies that it allows. */
export type WireMessage = {
  /** The request line or the status line. */
  readonly startLine: string
  /** Name and value, in order and spelling. Latin-1. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Without its framing. */
  readonly body: Buffer
  /** The index of the first byte behind it. */
  readonly end: number
}

/** What a stream of bytes begins with. `unfinished`: more bytes may complete it. */
export type Reading =
  | { readonly kind: 'message'; readonly message: WireMessage }
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'invalid'; readonly why: string }

/** The request that begins at `at`. */
export function readRequest(bytes: Buffer, at: number): Reading {
  const head = readHead(bytes, at)
  if (head.kind !== 'head') return head
  const { startLine, headers, end } = head
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ [\x21-\x7e\x80-\xff]+ HTTP\/1\.[01]$/.test(startLine))
    return invalid(`request line ${JSON.stringify(startLine.slice(0, 200))}`)
  const isOld = startLine.endsWith('1.0')
  const hosts = valuesOf(headers, 'host')
  if (hosts.length > 1 || (hosts.length === 0 && !isOld)) return invalid(`${hosts.length} Host headers`)
  const codings = valuesOf(headers, 'transfer-encoding')
  const lengths = valuesOf(headers, 'content-length')
  if (codings.length > 0) {
    if (isOld) return invalid('a transfer coding in HTTP/1.0')
    if (lengths.length > 0) return invalid('a length beside a transfer coding')
    if (codings.length > 1 || codings[0]?.toLowerCase() !== 'chunked') return invalid('transfer coding')
    return finished(head, readChunks(bytes, end))
  }
  return finished(head, readLength(bytes, end, lengths.length === 0 ? ['0'] : lengths))
}

/** The answer that begins at `at`, to a request of this method. `isClosed`: no more bytes come. */
export function readAnswer(bytes: Buffer, at: number, method: string, isClosed: boolean): Reading {
  const head = readHead(bytes, at)
  if (head.kind !== 'head') return head
  const { startLine, headers, end } = head
  const status = Number(/^HTTP\/1\.1 (\d{3}) [\t\x20-\x7e\x80-\xff]*$/.exec(startLine)?.[1] ?? 0)
  if (status < 100) return invalid(`status line ${JSON.stringify(startLine.slice(0, 200))}`)
  if (status < 200 || status === 204 || status === 304 || method === 'HEAD')
    return finished(head, { kind: 'body', body: Buffer.alloc(0), end })
  const codings = valuesOf(headers, 'transfer-encoding')
  const lengths = valuesOf(headers, 'content-length')
  if (codings.length > 0) {
    if (lengths.length > 0) return invalid('a length beside a transfer coding')
    if (codings.length > 1 || codings[0]?.toLowerCase() !== 'chunked') return invalid('transfer coding')
    return finished(head, readChunks(bytes, end))
  }
  if (lengths.length > 0) return finished(head, readLength(bytes, end, lengths))
  if (!isClosed) return { kind: 'unfinished' }
  return finished(head, { kind: 'body', body: bytes.subarray(end), end: bytes.length })
}

/** All values of a header, by its lower-case name. */
export const valuesOf = (headers: WireMessage['headers'], lowerName: string): readonly string[] =>
  headers.flatMap(([name, value]) => (name.toLowerCase() === lowerName ? [value] : []))

type Head = { readonly kind: 'head' } & Omit<WireMessage, 'body'>
type Body = { readonly kind: 'body'; readonly body: Buffer; readonly end: number }
type Unreadable = Exclude<Reading, { kind: 'message' }>

const invalid = (why: string): Unreadable => ({ kind: 'invalid', why })

function finished(head: Head, body: Body | Unreadable): Reading {
  if (body.kind !== 'body') return body
  const { startLine, headers } = head
  return { kind: 'message', message: { startLine, headers, body: body.body, end: body.end } }
}

function readHead(bytes: Buffer, at: number): Head | Unreadable {
  const stop = bytes.indexOf('\r\n\r\n', at)
  if (stop === -1) return { kind: 'unfinished' }
  const [startLine = '', ...lines] = bytes.subarray(at, stop).toString('latin1').split('\r\n')
  const headers = readFields(lines)
  if (headers === null) return invalid(`header among ${JSON.stringify(lines).slice(0, 400)}`)
  return { kind: 'head', startLine, headers, end: stop + 4 }
}

/** RFC 9110 sections 5.1 and 5.5: no folding, nothing before the colon, no control characters. */
function readFields(lines: readonly string[]): WireMessage['headers'] | null {
  const headers: (readonly [string, string])[] = []
  for (const line of lines) {
    const [, name, value] =
      /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return null
    headers.push([name, value.replace(/[\t ]+$/, '')])
  }
  return headers
}

function readLength(bytes: Buffer, at: number, lengths: readonly string[]): Body | Unreadable {
  const [stated = ''] = lengths
  if (lengths.length > 1 || !/^\d{1,15}$/.test(stated)) return invalid(`length ${lengths.join(' and ')}`)
  const end = at + Number(stated)
  return end > bytes.length ? { kind: 'unfinished' } : { kind: 'body', body: bytes.subarray(at, end), end }
}

function readChunks(bytes: Buffer, start: number): Body | Unreadable {
  const pieces: Buffer[] = []
  let at = start
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return { kind: 'unfinished' }
    const line = bytes.subarray(at, lineEnd).toString('latin1')
    const size = /^0*([0-9a-fA-F]{1,8})(?:;[\t\x20-\x7e\x80-\xff]*)?$/.exec(line)?.[1]
    if (size === undefined) return invalid(`chunk size ${JSON.stringify(line.slice(0, 100))}`)
    const from = lineEnd + 2
    const to = from + Number.parseInt(size, 16)
    if (to === from) return readTrailers(bytes, from, Buffer.concat(pieces))
    if (to + 2 > bytes.length) return { kind: 'unfinished' }
    if (bytes.toString('latin1', to, to + 2) !== '\r\n') return invalid('a chunk longer than its size')
    pieces.push(bytes.subarray(from, to))
    at = to + 2
  }
}

function readTrailers(bytes: Buffer, start: number, body: Buffer): Body | Unreadable {
  if (bytes.toString('latin1', start, start + 2) === '\r\n') return { kind: 'body', body, end: start + 2 }
  const trailers = readHead(bytes, start - 2)
  return trailers.kind === 'head' ? { kind: 'body', body, end: trailers.end } : trailers
}
