import type { IncomingMessage } from 'node:http'
import { FoldgateError } from '../errors.ts'
import { isSameSecret } from '../http/guard.ts'

/**
 * Wants the token where there is one: `authorization: Bearer TOKEN`, or, for browsers, which can send no such header by
 * themselves, as the password of `Basic`, under any name. Throws `admin_token_required`.
 */
export function requireToken({ headers }: IncomingMessage, token: string | null): void {
  if (token === null) return
  const presented = presentedIn(headers.authorization ?? '')
  // What was not sent is compared as well, so that every refusal takes the same time.
  const isSame = isSameSecret(presented ?? '', token)
  if (isSame && presented !== null) return
  throw new FoldgateError(
    'admin_token_required',
    'The admin listener wants its token (admin.token_env): send it as authorization: Bearer TOKEN, or as the password in a browser, with any name.',
    { param: 'authorization' },
  )
}

/**
 * How a client is told to send the token: a browser asks its user only for a password. It has to be told so for all that
 * a page loads as well, since it sends the password unasked only at and below the path where it was first asked.
 */
export function challengeFor({ headers }: IncomingMessage): string {
  const isBrowser = headers['sec-fetch-dest'] !== undefined || (headers.accept ?? '').includes('text/html')
  return isBrowser ? 'Basic realm="Foldgate", charset="UTF-8"' : 'Bearer'
}

// --- internal ---

function presentedIn(authorization: string): string | null {
  const [, bearer] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
  if (bearer !== undefined) return bearer
  const [, encoded] = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization) ?? []
  if (encoded === undefined) return null
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon === -1 ? null : pair.slice(colon + 1)
}
