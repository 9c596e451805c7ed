import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerHeaderNames } from '../telemetry/answer-headers.ts'
import { cutOffUnread } from './answer-error.ts'

/** Answer headers that browsers may show to a page, besides the few that they always show. */
const exposedHeaders = [
  ...answerHeaderNames,
  'x-request-id',
  'retry-after',
  'retry-after-ms',
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
  'x-ratelimit-reset-tokens',
].join(', ')

/** How long a browser may keep a preflight's answer, in seconds; browsers cut it to two hours at most. */
const preflightSeconds = 7_200

/** Whether pages of an origin may use Foldgate (`cors.origins`; `*` means all). */
export function isAllowedOrigin(origin: string, origins: readonly string[]): boolean {
  return origins.includes('*') || origins.includes(origin)
}

/**
 * The headers that let a page read an answer. Empty without `cors.origins`: then the upstream's own stand.
 */
export function corsHeaders(incoming: IncomingMessage, origins: readonly string[]): Record<string, string> {
  if (origins.length === 0) return {}
  const { origin } = incoming.headers
  if (origin === undefined || !isAllowedOrigin(origin, origins)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposedHeaders,
    vary: 'origin',
  }
}

/** Answers a preflight; false when an OPTIONS request is none, or is the upstream's to answer. */
export function answerPreflight(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  allowed: Readonly<Record<string, string>>,
): boolean {
  const { headers } = incoming
  const method = headers['access-control-request-method']
  if (method === undefined || allowed['access-control-allow-origin'] === undefined) return false
  const privateNetwork = headers['access-control-request-private-network'] === 'true'
  outgoing.writeHead(204, {
    ...allowed,
    vary: 'origin, access-control-request-method, access-control-request-headers',
    'access-control-allow-methods': method,
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': String(preflightSeconds),
    ...(privateNetwork ? { 'access-control-allow-private-network': 'true' } : {}),
  })
  outgoing.end()
  cutOffUnread(outgoing)
  return true
}
