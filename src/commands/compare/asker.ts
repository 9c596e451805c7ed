import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject, parseJsonText, stringOr } from '../../json/json-value.ts'
import type { Reply, Usage } from '../../formats/answer-contract.ts'
import type { Chat } from '../../pipeline/request.ts'
import type { Dialect } from '../../formats/contract.ts'
import { FoldgateError } from '../../errors.ts'
import { answerText } from '../../upstream/answer-body.ts'
import { originalForm } from '../../pipeline/compact/forms.ts'
import { bytesOf, withEdits, withRenamedModel, clamped } from '../../pipeline/send/outgoing-body.ts'
import { headerValue } from '../../upstream/credential.ts'
import { retryAfterMs } from '../../upstream/answer-head.ts'
import { modelTarget } from '../../upstream/target.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'

export type ModelAnswer =
  | { readonly kind: 'answered'; readonly reply: Reply; readonly usage: Usage | null }
  /** It does not want this request; another may be welcome. */
  | { readonly kind: 'refused'; readonly status: number; readonly said: string }
  /** No other request would be answered now. */
  | { readonly kind: 'stopped'; readonly why: string }

export type AskerOptions = {
  readonly upstreams: Pick<Upstreams, 'send'>
  /** The headers that carry a key of the environment, name and value by turns. */
  readonly credentialFor: (dialect: Dialect) => readonly string[]
  /** The model's name in every request; null: the one that it has. */
  readonly model: string | null
  /** The most tokens that a reply may have; less where the request says less. */
  readonly outputTokens: number
  readonly signal: AbortSignal
}

export type AskModel = (chat: Chat, upstream: string | null) => Promise<ModelAnswer>

/** Asks for a plain answer to recorded requests, again where the upstream is busy. Never rejects. */
export function createAsker(options: AskerOptions): AskModel {
  // OpenAI's newer models refuse the name that all other servers take.
  const refusedFields = new Set<string>()
  return async function askFor(chat, upstream) {
    const { limitFields, limit } = chat.dialect.summaries
    // A limit among other options is left to the request: they may stand in it already.
    const fields = chat.body.outputLimit === null && limit === undefined ? limitFields : []
    for (let attempt = 1; ; attempt += 1) {
      const field = fields.find((name) => !refusedFields.has(name)) ?? null
      const outcome = await askOnce(chat.dialect, upstream, bytesFor(chat, field, options), options)
      if (outcome.kind === 'refused' && field !== null && outcome.said.includes(field)) {
        refusedFields.add(field)
        continue
      }
      if (outcome.kind !== 'busy') return outcome
      if (attempt === ATTEMPTS_MAX) return { kind: 'stopped', why: outcome.why }
      const waitMs = Math.min(WAIT_MS_MAX, outcome.waitMs ?? 1_000 * 2 ** attempt)
      await pause(waitMs, undefined, { signal: options.signal }).catch(() => {})
    }
  }
}

// --- internal ---

const ownHeaders = Object.entries({
  'user-agent': 'foldgate-compare',
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'identity',
}).flat()

const ATTEMPTS_MAX = 5
const WAIT_MS_MAX = 60_000

/** Nobody reads more of why a request is refused. */
const SAID_CHARS_MAX = 200

type Busy = { readonly kind: 'busy'; readonly why: string; readonly waitMs: number | null }

/** The request's own bytes, but for a plain answer, with an output limit, and for the model that is meant. */
function bytesFor(chat: Chat, field: string | null, { model, outputTokens }: AskerOptions): Buffer {
  const { outputLimit, outputLeastTokens, modelPlace, withoutStreaming } = chat.body
  const tokens = Math.max(outputLeastTokens, Math.min(outputLimit?.tokens ?? Infinity, outputTokens))
  const limited = clamped(originalForm(chat, 0), tokens)
  const plain = withEdits(limited, ...(withoutStreaming ?? []))
  const behind = { start: modelPlace.end, end: modelPlace.end }
  const text = `,${JSON.stringify(field)}:${tokens}`
  const limit = field === null ? plain : withEdits(plain, { at: behind, text })
  const named = withRenamedModel(limit, { renamedTo: model, deployment: null })
  return bytesOf(chat.bytes, named.pieces)
}

async function askOnce(
  dialect: Dialect,
  upstream: string | null,
  body: Buffer,
  { upstreams, credentialFor, signal }: AskerOptions,
): Promise<ModelAnswer | Busy> {
  try {
    const answer = await upstreams.send({
      method: 'POST',
      target: modelTarget(dialect),
      upstream,
      rawHeaders: [
        ...ownHeaders,
        ...Object.entries(dialect.summaries.headers).flat(),
        ...credentialFor(dialect),
      ],
      withholdCredential: false,
      body,
      signal,
    })
    const { status } = answer
    const text = (await answerText(answer)) ?? ''
    const parsed = parseJsonText(text)
    const reply = status === 200 ? dialect.replies.read(parsed) : null
    const facts = dialect.answers.read(parsed)
    if (reply !== null && facts?.isError !== true)
      return { kind: 'answered', reply, usage: facts?.usage ?? null }
    const said = saidIn(parsed)
    const why = `the upstream answered ${status}${said === '' ? '' : ` (${said})`}`
    const waitMs = retryAfterMs(headerValue(answer.rawHeaders, 'retry-after'), Date.now())
    if (status === 408 || status === 429 || status > 501) return { kind: 'busy', why, waitMs }
    if (status === 401 || status === 403 || status === 404)
      return { kind: 'stopped', why: answer.hint === null ? why : `${why}: ${answer.hint}` }
    return { kind: 'refused', status, said }
  } catch (error) {
    if (signal.aborted) return { kind: 'stopped', why: 'it was broken off' }
    if (!(error instanceof FoldgateError)) throw error
    return {
      kind: error.code === 'upstream_unreachable' ? 'stopped' : 'busy',
      why: error.message,
      waitMs: null,
    }
  }
}

/** What an error says for people, in one line. */
function saidIn(body: unknown): string {
  const error = isJsonObject(body) ? body['error'] : null
  const said = stringOr(isJsonObject(error) ? error['message'] : error, '')
  return said
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, SAID_CHARS_MAX)
}
