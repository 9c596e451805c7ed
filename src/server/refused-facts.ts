import type { IncomingMessage } from 'node:http'
import { httpStatusOf, type FoldgateError } from '../errors.ts'
import { escaped, type LogFacts } from '../telemetry/log/log.ts'

/**
 * What the log tells of a request that was refused or failed: which, and whose. Of its path the words of APIs, since a client
 * may put a key anywhere; no query, and nothing that the request says.
 */
export function refusedFacts({ code }: FoldgateError, incoming: IncomingMessage): LogFacts {
  const { method = '', url = '', socket, headers } = incoming
  return {
    code,
    status: httpStatusOf[code],
    request: shown(`${method} ${wordsOf(url)}`),
    client: socket.remoteAddress ?? null,
    user_agent: shown(headers['user-agent'] ?? ''),
  }
}

// --- internal ---

/** What paths of the APIs are made of; anything else is a name, or a key. */
const apiWords: ReadonlySet<string> = new Set(
  `api chat compact completions count_tokens conversations deployments embeddings files generate healthz messages models
  openai readyz realtime responses tags u v1 v1beta v2`.split(/\s+/),
)

/** A path with everything else left out of it. */
function wordsOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1)
  const segments = path.slice(0, LOOKED_AT_CHARS).split('/')
  return segments.map((segment) => (segment === '' || apiWords.has(segment) ? segment : '…')).join('/')
}

/** A path may be as long as all headers together. */
const LOOKED_AT_CHARS = 1_024

/** What a client may write into the log, in characters. */
const SHOWN_CHARS_MAX = 200

function shown(text: string): string {
  const cut = text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
  return escaped(cut)
}
