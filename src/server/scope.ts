import type { IncomingMessage } from 'node:http'
import type { Scope } from '../pipeline/client-request.ts'
import { clientCredentials, createDigests, headerValue } from '../upstream/credential.ts'
import type { Target } from '../upstream/target.ts'

/**
 * Tells whose state is whose: by the client key's name where Foldgate has client keys, by a header that
 * the operator trusts, else by all credentials that it carries.
 */
export function createScopes(options: {
  readonly secret: Buffer
  readonly header: string | null
}): (exchange: ScopedExchange) => Scope {
  const digestOf = createDigests(options.secret)
  const header = options.header?.toLowerCase() ?? null
  const nobody = digestOf('credential', '[]')

  return function scopeOf(exchange) {
    const { rawHeaders } = exchange.incoming
    const carried = clientCredentials(rawHeaders, exchange.target.query)
    const isNobody = exchange.clientKeyName === null && carried.length === 0
    // As one text, in which no value can be taken for two or for one of another place.
    const named = exchange.clientKeyName ?? JSON.stringify(carried.map(({ place, value }) => [place, value]))
    const credential = isNobody ? nobody : digestOf('credential', named)
    const trusted = header === null ? null : headerValue(rawHeaders, header)
    if (trusted !== null && trusted !== '') {
      // Such a header is there because tokens rotate: what is learnt of one token is true of the next.
      const name = digestOf('header', trusted)
      return { scope: name, credential: name, holder: name }
    }
    if (exchange.clientKeyName !== null) {
      const name = digestOf('client key', exchange.clientKeyName)
      return { scope: name, credential, holder: name }
    }
    const { socket } = exchange.incoming
    const holder = isNobody ? (socket.remoteAddress ?? '') : credential
    return { scope: credential, credential, holder }
  }
}

// --- internal ---

/** The parts of a request by which its scope is told. */
type ScopedExchange = {
  readonly target: Pick<Target, 'query'>
  readonly clientKeyName: string | null
  readonly incoming: Pick<IncomingMessage, 'rawHeaders'> & {
    readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>
  }
}
