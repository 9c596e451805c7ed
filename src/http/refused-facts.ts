import type { IncomingMessage } from 'node:http'
import { httpStatusOf, type FoldgateError } from '../errors.ts'
import { escaped, type LogFacts } from '../log/log.ts'

/**
 * What the log tells of a request that was refused or failed: which, and whose. No query, which may hold a key, and nothing
 * that the request says.
 */
export function refusedFacts({ code }: FoldgateError, incoming: IncomingMessage): LogFacts {
  const { method = '', url = '', socket, headers } = incoming
  return {
    code,
    status: httpStatusOf[code],
    request: shown(`${method} ${url.split(/[?#]/, 1)[0] ?? ''}`),
    client: socket.remoteAddress ?? null,
    user_agent: shown(headers['user-agent'] ?? ''),
  }
}

// --- internal ---

/** What a client may write into the log, in characters. */
const SHOWN_CHARS_MAX = 200

function shown(text: string): string {
  const cut = text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
  return escaped(cut)
}
