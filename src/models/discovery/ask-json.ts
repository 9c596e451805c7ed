import type { Answer, OwnRequest, Upstreams } from '../../upstream/upstreams.ts'
import {
  clientCredential,
  credentialHeadersOf,
  isOfSubscription,
  subscriptionBeta,
} from '../../upstream/credential.ts'
import { keysOfQuery, type Target } from '../../upstream/target.ts'
import { answerText } from '../../upstream/answer-body.ts'
import type { Probe } from './probes.ts'

/** What was wrong with an answer that should have been of use. */
export type WindowTrouble = 'html' | 'no-json' | 'cut-off' | 'too-large' | 'implausible' | 'no-answer'

/**
 * What came back: JSON; nothing here (`useless`), which will not change soon; nothing for this credential (`denied`); or a
 * failure, which may pass. `trouble` null where it is none of the operator's concern or shows itself in requests anyway.
 */
export type JsonAnswer = { readonly outcome: 'json'; readonly value: unknown } | NoJson
export type NoJson = {
  readonly outcome: 'useless' | 'denied' | 'failed'
  readonly trouble: WindowTrouble | null
}

/**
 * The name under which Foldgate sends requests of its own.
 *
 * @internal exported for tests
 */
export const questionUserAgent = 'foldgate'

/** The headers of each of them. Answers have to be readable here. */
export const questionHeaders: readonly string[] = [
  'user-agent',
  questionUserAgent,
  'accept',
  'application/json',
  'accept-encoding',
  'identity',
]

/** Asks one endpoint, with the client's credentials and nothing else of it. Never rejects. */
export async function askJson(
  upstreams: Pick<Upstreams, 'ask'>,
  question: WindowQuestion,
  request: ProbeRequest,
): Promise<JsonAnswer> {
  let answer: Answer
  try {
    answer = await upstreams.ask(onTheWire(question, request))
  } catch {
    // An upstream that cannot be reached shows itself in the client's own requests.
    return { outcome: 'failed', trouble: abortTrouble(request.signal) }
  }
  if (answer.status !== 200) {
    answer.body.destroy()
    return refusalOf(answer.status)
  }
  try {
    const text = await answerText(answer)
    return text === null ? { outcome: 'failed', trouble: 'too-large' } : parsed(text, request.probe)
  } catch {
    return {
      outcome: 'failed',
      trouble: request.signal.aborted ? abortTrouble(request.signal) : 'cut-off',
    }
  }
}

/** Which window a request is about: that of a model, as the client's own credential sees it. */
export type WindowQuestion = {
  /** A name from the settings; null for the default upstream. */
  readonly upstream: string | null
  /** A digest of the credential: what one credential was told is never told to another. */
  readonly credential: string
  /** Null where no server can know the model by its name. */
  readonly model: string | null
  /** Of the chat completion, as the client wrote it. */
  readonly target: Target
  /** The client's headers. Its credentials go to the server, under the same rules as its requests. */
  readonly rawHeaders: readonly string[]
  /** True where the client's credential is a key of Foldgate's own. */
  readonly withholdCredential: boolean
}

// --- internal ---

type ProbeRequest = {
  /** With its query. */
  readonly path: string
  /** Sent as JSON; null asks with GET. */
  readonly body: unknown
  readonly probe: Probe
  readonly signal: AbortSignal
}

function onTheWire(question: WindowQuestion, { path, body, probe, signal }: ProbeRequest): OwnRequest {
  const [bare = '', query = ''] = path.split('?')
  const keys = keysOfQuery(question.target.query)
  const queries = [query, keys].filter((part) => part !== '').join('&')
  return {
    upstream: question.upstream,
    method: body === null ? 'GET' : 'POST',
    path: bare,
    query: queries === '' ? '' : `?${queries}`,
    rawHeaders: [
      ...questionHeaders,
      ...(body === null ? [] : ['content-type', 'application/json']),
      ...probe.headers,
      ...credentialsAt(probe.keyPlace, question),
    ],
    keyPlace: probe.keyPlace,
    withholdCredential: question.withholdCredential,
    body: body === null ? null : Buffer.from(JSON.stringify(body)),
    signal,
  }
}

/** The client's credentials where it put them, or the one key where the server looks for it. */
function credentialsAt(place: Probe['keyPlace'], { rawHeaders, target }: WindowQuestion): readonly string[] {
  if (place === 'x-api-key' && isOfSubscription(rawHeaders))
    return [...credentialHeadersOf(rawHeaders), 'anthropic-beta', subscriptionBeta]
  const credential = clientCredential(rawHeaders, target.query)
  if (place !== null && credential !== null && credential.place !== 'query') {
    return [place, credential.value]
  }
  return credentialHeadersOf(rawHeaders)
}

function abortTrouble(signal: AbortSignal): WindowTrouble | null {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError' ? 'no-answer' : null
}

/**
 * 4xx says that there is nothing here, 401 and 403 that there is nothing for this credential. But a model that is not
 * loaded yet may be a 400, and rate limits and servers in trouble pass.
 */
function refusalOf(status: number): NoJson {
  if (status === 401 || status === 403) return { outcome: 'denied', trouble: null }
  const passes = status >= 500 || [400, 408, 409, 425, 429].includes(status)
  return { outcome: passes && status !== 501 ? 'failed' : 'useless', trouble: null }
}

function parsed(text: string, { isGuess }: Probe): JsonAnswer {
  try {
    return { outcome: 'json', value: JSON.parse(text) as unknown }
  } catch {
    // Some servers answer every path with their page.
    if (isGuess) return { outcome: 'useless', trouble: null }
    return { outcome: 'failed', trouble: text.trimStart().startsWith('<') ? 'html' : 'no-json' }
  }
}
