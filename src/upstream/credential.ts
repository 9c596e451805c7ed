/** A client's credential as it came: which header (or the query's `key`) held it, and its bare value. */
export type ClientCredential = {
  readonly place: 'authorization' | 'api-key' | 'x-api-key' | 'x-goog-api-key' | 'query'
  readonly value: string
}

/** Headers in which clients send credentials. They are held back from every upstream that may not see them. */
export const credentialHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'cookie',
])

/** The credential of a request, from its raw headers and its query; null where it has none. */
export function clientCredential(rawHeaders: readonly string[], query: string): ClientCredential | null {
  for (const place of ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'] as const) {
    const value = headerValue(rawHeaders, place)
    if (value === null || value === '') continue
    return { place, value: place === 'authorization' ? value.replace(/^Bearer\s+/i, '') : value }
  }
  const key = new URLSearchParams(query).get('key')
  return key === null || key === '' ? null : { place: 'query', value: key }
}

/** The first value of a header in a raw header list, or null. `name` is in lower case. */
export function headerValue(rawHeaders: readonly string[], name: string): string | null {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) return rawHeaders[at + 1] ?? null
  }
  return null
}

/**
 * The header that carries a key which Foldgate holds: the one that the client's own credential came in,
 * `api-key` for Azure's hosts, else a bearer token.
 */
export function heldKeyHeader(
  key: string,
  clientPlace: ClientCredential['place'] | null,
  upstreamOrigin: string,
): readonly [string, string] {
  if (clientPlace === 'api-key' || clientPlace === 'x-api-key' || clientPlace === 'x-goog-api-key') {
    return [clientPlace, key]
  }
  if (/\.azure\.com(?::\d+)?$/.test(upstreamOrigin)) return ['api-key', key]
  return ['authorization', `Bearer ${key}`]
}
