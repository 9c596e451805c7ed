import type { IncomingMessage } from 'node:http'
import { type FoldgateError, httpStatusOf } from '../errors.ts'
import { escaped, type Log, type LogFacts } from '../telemetry/log/log.ts'
import { createThrottle } from '../telemetry/log/throttle.ts'
import type { Warnings } from '../telemetry/log/warnings.ts'

/** Logs the errors of Foldgate's own that clients get. */
export function createRefusalLog(log: Log, warnings: Pick<Warnings, 'upgrade'>) {
  const timesFailed = createThrottle(() => performance.now())
  const timesTurnedAway = createThrottle(() => performance.now(), TURNED_AWAY_GAP_MS)

  /** Of a request that got to a handler. */
  function failed(error: FoldgateError, incoming: IncomingMessage): void {
    // An upstream that is away fails every request: it has a line a minute, which says what to do.
    const isUpstreams = error.code.startsWith('upstream_')
    const times = isUpstreams ? timesFailed(error.message) : 1
    const more = isUpstreams ? { why: error.message, times } : {}
    if (times !== null)
      log.warn('a request was refused or failed', { ...refusedFacts(error, incoming), ...more })
  }

  return {
    failed,
    /** Of a request that never got to one. */
    turnedAway: (error: FoldgateError, incoming: IncomingMessage): void => {
      // Codex asks for one at its every start, and goes on over HTTP.
      if (error.code === 'upgrade_not_supported') {
        warnings.upgrade()
        return
      }
      const times = timesTurnedAway(error.code)
      if (times === 1) failed(error, incoming)
      else if (times !== null) log.warn('requests were refused', { ...refusedFacts(error, incoming), times })
    },
  }
}

// --- internal ---

/** How long the log only counts the same refusal, in milliseconds: anybody without a key may ask as often as he likes. */
const TURNED_AWAY_GAP_MS = 1_000

/**
 * What the log tells of a request that was refused or failed: which, and whose. Of its path the words of APIs, since a client
 * may put a key anywhere; no query, and nothing that the request says.
 */
function refusedFacts({ code }: FoldgateError, incoming: IncomingMessage): LogFacts {
  const { method = '', url = '', socket, headers } = incoming
  return {
    code,
    status: httpStatusOf[code],
    request: shown(`${method} ${wordsOf(url)}`),
    client: socket.remoteAddress ?? null,
    user_agent: shown(headers['user-agent'] ?? ''),
  }
}

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
