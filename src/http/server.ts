import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Dialect } from '../dialects/contract.ts'
import { answerable, ClientGoneError, type FoldgateError } from '../errors.ts'
import { answerError } from './answer-error.ts'
import { ClientPresence } from './client-presence.ts'
import type { ClientRequest } from './client-request.ts'
import { corsHeaders } from './cors.ts'
import { gatesOf, type GateOptions } from './gates.ts'
import { serverAround, type RequestListener } from './node-server.ts'

export type ServerOptions = GateOptions & {
  readonly limits: {
    /** How long a request's headers may take to arrive, in milliseconds. */
    readonly headersMs: number
  }
  /** Answers a conversation. What it throws is answered here, or cuts an answer that has begun. */
  readonly handleConversation: (exchange: ClientRequest, dialect: Dialect) => Promise<unknown>
  /** Answers everything else. */
  readonly relay: (exchange: ClientRequest) => Promise<unknown>
  /** Called for every request that never got to a handler, and why. */
  readonly onTurnedAway?: (error: FoldgateError, incoming: IncomingMessage) => void
}

/**
 * The listener that clients talk to: two probes of its own, and behind the gates conversations to `handleConversation`,
 * everything else to `relay` (`routes.ts`). It does not listen yet (`listen.ts`).
 */
export function createServer(options: ServerOptions): Server {
  return serverAround(listenerOf(options), { headersMs: options.limits.headersMs, headerBytesMax })
}

// --- internal ---

/** Largest request headers, in bytes. */
const headerBytesMax = 64 * 1024

/** Takes each request by its route through the gates to its handler. */
function listenerOf(options: ServerOptions): RequestListener {
  const passGates = gatesOf(options)

  return async function answer(incoming, outgoing, fault) {
    const client = new ClientPresence(outgoing)
    let isDispatched = false
    try {
      if (fault !== null) throw fault
      const exchange = passGates(incoming, outgoing, client)
      if (exchange === null) return
      isDispatched = true
      const { route } = exchange
      if (route.kind === 'conversation') await options.handleConversation(exchange, route.dialect)
      else await options.relay(exchange)
    } catch (error) {
      refuse(outgoing, error, isDispatched, options)
    }
  }
}

function refuse(
  outgoing: ServerResponse,
  error: unknown,
  isDispatched: boolean,
  { corsOrigins, onFailure, onTurnedAway }: ServerOptions,
): void {
  if (error instanceof ClientGoneError) return
  const failure = answerable(error)
  if (isDispatched) onFailure?.(failure, outgoing.req)
  else onTurnedAway?.(failure, outgoing.req)
  answerError(outgoing, failure, corsHeaders(outgoing.req, corsOrigins))
}
