import type { Settings } from '../config/settings.ts'
import { FoldgateError } from '../errors.ts'

/**
 * How long an upstream may keep its requests waiting: until a connection stands, from the end of the request until the
 * answer's headers, and between two pieces of an answer.
 */
export type UpstreamLimits = Pick<Settings['limits'], 'connect_s' | 'first_byte_s' | 'idle_s'>

/**
 * An error of undici or of the socket under it, as one of Foldgate's own. The cause is kept for the log, its
 * text is not shown to the client. `setBy`: where the address was set.
 */
export function upstreamFailure(
  cause: unknown,
  { address, setBy }: { readonly address: string; readonly setBy: string },
  limits: UpstreamLimits,
): FoldgateError {
  if (cause instanceof FoldgateError) return cause
  const code = errorCode(cause)
  const why = code === null ? '' : ` (${code})`
  if (code === 'EMFILE' || code === 'ENFILE')
    return new FoldgateError(
      'overloaded',
      `Foldgate has no file descriptor left for a connection to the upstream${why}. Raise the limit of the process (ulimit -n, LimitNOFILE), or lower limits.concurrent: each request takes two.`,
      { cause },
    )
  const late = code === null ? undefined : lateness[code]?.(limits)
  if (late !== undefined)
    return new FoldgateError('upstream_timeout', `The upstream ${address} ${late}.`, { cause })
  if (isUnreachable(code, cause)) {
    return new FoldgateError(
      'upstream_unreachable',
      `The upstream ${address} cannot be reached${why}. Check that it runs and that ${setBy} names it.`,
      { cause },
    )
  }
  return new FoldgateError('upstream_broken', `The upstream ${address} broke off the connection${why}.`, {
    cause,
  })
}

/** Whether the next piece of an answer did not come in time, of an error of undici's. */
export function isLate(error: unknown): boolean {
  return errorCode(error) === 'UND_ERR_BODY_TIMEOUT'
}

/** Whether nothing listens at an upstream's address, of an error that `upstreamFailure` made. */
export function isRefusedConnection(error: unknown): boolean {
  return error instanceof FoldgateError && errorCode(error.cause) === 'ECONNREFUSED'
}

// --- internal ---

/** What was late, by undici's code. */
const lateness: Readonly<Record<string, (limits: UpstreamLimits) => string>> = {
  UND_ERR_CONNECT_TIMEOUT: ({ connect_s }) => `took no connection within ${connect_s} s (limits.connect_s)`,
  UND_ERR_HEADERS_TIMEOUT: ({ first_byte_s }) =>
    `sent no answer within ${first_byte_s} s (limits.first_byte_s)`,
  UND_ERR_BODY_TIMEOUT: ({ idle_s }) =>
    `fell silent for ${idle_s} s in the middle of its answer (limits.idle_s)`,
}

const unreachableCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'EPROTO',
  'UND_ERR_PRX_CONN',
  'UND_ERR_PRX_TLS',
])

function isUnreachable(code: string | null, cause: unknown): boolean {
  if (code === null) return false
  if (unreachableCodes.has(code)) return true
  // TLS: no common protocol, an unknown issuer, another host's certificate, one that has expired.
  if (/^ERR_(?:TLS|SSL)_|CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) return true
  // An HTTP proxy that refuses the tunnel aborts the request; our own aborts never come here.
  return code === 'UND_ERR_ABORTED' && cause instanceof Error && cause.message.startsWith('Proxy response')
}

/** The first code in the chain of causes: undici and dual-stack connects wrap the socket's own error. */
function errorCode(error: unknown): string | null {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string' && at.code !== '') return at.code
    if (at instanceof AggregateError) {
      const inner = errorCode(at.errors[0])
      if (inner !== null) return inner
    }
  }
  return null
}
