import type { IncomingMessage } from 'node:http'
import { FoldgateError } from '../errors.ts'
import { isSameSecret } from '../proxy/wire/guard.ts'

/** Wants `authorization: Bearer TOKEN` where there is a token. Throws `admin_token_required`. */
export function requireToken({ headers }: IncomingMessage, token: string | null): void {
  if (token === null) return
  const [, presented] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  // What was not sent is compared as well, so that every refusal takes the same time.
  const isSame = isSameSecret(presented ?? '', token)
  if (isSame && presented !== undefined) return
  throw new FoldgateError(
    'admin_token_required',
    'The admin listener wants its token (admin.token_env): send it as authorization: Bearer TOKEN.',
    { param: 'authorization' },
  )
}
