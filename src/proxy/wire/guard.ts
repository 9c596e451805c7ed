import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { FoldgateError } from '../../errors.ts'
import { isLoopbackName } from '../../upstream/address.ts'
import { clientCredential } from '../../upstream/credential.ts'
import { isAllowedOrigin } from './cors.ts'

export type ClientKey = { readonly name: string; readonly key: string }

/**
 * Finds out whose key a request carries; null where Foldgate has no client keys. Throws
 * `client_key_required`. Every key is compared in constant time, and all of them each time.
 */
export function clientKeyName(
  incoming: IncomingMessage,
  query: string,
  clientKeys: readonly ClientKey[],
): string | null {
  if (clientKeys.length === 0) return null
  const credential = clientCredential(incoming.rawHeaders, query)
  const presented = hash('sha256', credential?.value ?? '', 'buffer')
  let found: string | null = null
  for (const { name, key } of clientKeys) {
    const same = timingSafeEqual(presented, hash('sha256', key, 'buffer'))
    if (same && credential !== null) found = name
  }
  if (found !== null) return found
  throw new FoldgateError(
    'client_key_required',
    'This Foldgate takes its own client keys only (client_keys): send one as the API key.',
  )
}

/**
 * Protects a key that Foldgate holds from pages in the user's browser: a page on another site sends its
 * `Origin`, and one that had its name re-bound to this machine sends a foreign `Host`. Throws
 * `origin_not_allowed` or `host_not_allowed`.
 */
export function refuseForeignPages(
  incoming: IncomingMessage,
  allowed: { readonly hosts: readonly string[]; readonly origins: readonly string[] },
): void {
  const host = incoming.headers.host ?? ''
  if (!isLoopbackName(withoutPort(host)) && !namesHost(allowed.hosts, host)) {
    throw new FoldgateError(
      'host_not_allowed',
      'Foldgate holds a key and answers only under names of this machine. Add the name to hosts in foldgate.yaml.',
      { param: 'host' },
    )
  }
  const { origin } = incoming.headers
  // Images and links of a page send no origin, but browsers say where they stand.
  if (origin === undefined && incoming.headers['sec-fetch-site'] !== 'cross-site') return
  if (origin !== undefined && isAllowedOrigin(origin, allowed.origins)) return
  // A page that Foldgate itself would serve; any other port of this machine is another site.
  if (origin === `http://${host}` || origin === `https://${host}`) return
  throw new FoldgateError(
    'origin_not_allowed',
    'Foldgate holds a key and refuses pages of other sites. Add the origin to cors.origins in foldgate.yaml.',
    { param: 'origin' },
  )
}

// --- internal ---

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '')
}

function namesHost(hosts: readonly string[], host: string): boolean {
  const lower = host.toLowerCase()
  return hosts.some((name) => name.toLowerCase() === lower || name.toLowerCase() === withoutPort(lower))
}
