/** Why Foldgate cannot forward to `text`, as the end of "must be …"; null if it can. */
export function upstreamUrlFault(text: string): string | null {
  if (/[\s\p{Cc}]/u.test(text)) return 'an address without spaces'
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'an address that begins with http:// or https://'
  }
  if (url.username !== '' || url.password !== '') {
    return 'an address without user and password: put a key into api_key_env or api_key_file, anything else into headers'
  }
  if (text.includes('?')) return "an address without a query (?…): the client's own query is passed on"
  if (text.includes('#')) return 'an address without a fragment (#…)'
  return null
}

/** The canonical spelling, without a slash at its end. */
export function canonicalUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, '')
}

/**
 * Whether `text` is an origin as browsers send it: scheme, host, port and nothing more. `URL` knows no
 * origin of schemes such as `chrome-extension:` and `app:`.
 */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.origin !== 'null') return url?.origin === text
  return /^[a-z][a-z0-9+.-]*:\/\/[\w.-]+(?::\d{1,5})?$/.test(text)
}

/** Whether only this machine can reach a listener on `host`. */
export function isLoopback(host: string): boolean {
  const plain = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  if (plain === 'localhost' || plain.endsWith('.localhost')) return true
  if (/^127(?:\.\d{1,3}){3}$/.test(plain)) return true
  return (
    plain === '::1' || /^(?:0{1,4}:){7}0{0,3}1$/.test(plain) || /^::ffff:127(?:\.\d{1,3}){3}$/.test(plain)
  )
}
