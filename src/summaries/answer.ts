import { contentParts } from '../dialects/chat-completions/content.ts'
import { isJsonObject, stringOr, type JsonObject } from '../conversation/json-value.ts'
import { classifyAnswer } from '../overflow/classify.ts'
import { collectErrorFacts } from '../overflow/error-text.ts'
import type { StatedWindow } from '../overflow/classification.ts'
import { readCompletion, type Usage } from '../dialects/chat-completions/completion.ts'
import { parseJsonText } from '../conversation/json-value.ts'
import type { FailureReason } from './failure.ts'
import { withoutThoughts } from './thoughts.ts'

export type Answer = { readonly status: number; readonly contentType: string; readonly body: string }

/** What the answer to a request for a summary says. */
export type Reading = { readonly usage: Usage | null } & (
  | {
      readonly kind: 'text'
      readonly text: string
      /** Whether the output limit cut it off. */
      readonly isUnfinished: boolean
    }
  /** The prompt was too large, for a window that is stated or not. */
  | {
      readonly kind: 'overflow'
      readonly window: StatedWindow | null
      /** Null where it is not stated, or not exactly. */
      readonly promptTokens: number | null
    }
  /** The output limit was too high. */
  | { readonly kind: 'limit-refused' }
  /** The request was refused as it is; another form of it may be accepted. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: FailureReason }
)

/** Reads an answer: text is only what the model wrote as its answer, never its thoughts. */
export function readAnswer(answer: Answer): Reading {
  const parsed = parseJsonText(answer.body)
  const completion = readCompletion(parsed)
  const usage = completion?.usage ?? null
  const error = isSuccess(answer.status) && completion?.isError !== true ? null : errorIn(answer)
  if (error !== null) return { ...error, usage }
  if (!isJsonObject(parsed) || completion === null) return failed('unreadable', usage)
  return { ...choiceIn(parsed, completion.finishReason), usage }
}

// --- internal ---

type Unmetered<Each> = Each extends unknown ? Omit<Each, 'usage'> : never
type Bare = Unmetered<Reading>

function failed(reason: FailureReason, usage: Usage | null): Reading {
  return { kind: 'failed', reason, usage }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Statuses by which a server may say that it does not like the request's form; some say it inside a 200. */
function isRefusal(status: number): boolean {
  return isSuccess(status) || status === 400 || status === 404 || status === 422
}

function errorIn(answer: Answer): Bare {
  const { class: answerClass, window, promptTokens } = classifyAnswer(answer)
  const { status } = answer
  switch (answerClass) {
    case 'overflow':
      return {
        kind: 'overflow',
        window,
        promptTokens: promptTokens?.exact === true ? promptTokens.tokens : null,
      }
    case 'payload_too_large':
      return { kind: 'overflow', window: null, promptTokens: null }
    case 'output_too_large':
      // Beyond the window itself: that is learnt, and the limit with it.
      return window === null ? { kind: 'limit-refused' } : { kind: 'overflow', window, promptTokens: null }
    case 'rate':
      return { kind: 'failed', reason: 'rate-limited' }
    case 'denied':
      return { kind: 'failed', reason: isUnauthorized(answer) ? 'unauthorized' : 'declined' }
    case 'crowded':
      return { kind: 'failed', reason: 'upstream-error' }
    case 'order':
      return { kind: 'refused' }
    case 'other':
      return isRefusal(status) ? { kind: 'refused' } : { kind: 'failed', reason: 'upstream-error' }
  }
}

/** `denied` is also what content policies answer, which say nothing of keys. */
function isUnauthorized({ status, body }: Answer): boolean {
  if (status === 401 || status === 407) return true
  const facts = collectErrorFacts(body)
  const isPolicy = /content.{0,20}polic|moderat|filtered|inappropriate/i.test(facts.text)
  return !isPolicy && (status === 403 || facts.statuses.some((inner) => inner === 401 || inner === 403))
}

/** An answer without an error: the first choice. */
function choiceIn(body: JsonObject, finishReason: string | null): Bare {
  const { choices } = body
  if (!Array.isArray(choices)) return { kind: 'failed', reason: 'unreadable' }
  const choice: unknown = choices[0]
  if (!isJsonObject(choice)) return { kind: 'failed', reason: 'empty' }
  const message = isJsonObject(choice['message']) ? choice['message'] : {}
  if (makesCall(message, finishReason)) return { kind: 'failed', reason: 'tool-call' }
  if (finishReason === 'content_filter' || stringOr(message['refusal'], '') !== '')
    return { kind: 'failed', reason: 'declined' }
  const written = textOf(message)
  const text = withoutThoughts(written)
  const isFull = finishReason === 'model_context_window_exceeded'
  if (text.trim() !== '') return { kind: 'text', text, isUnfinished: finishReason === 'length' || isFull }
  if (isFull) return { kind: 'overflow', window: null, promptTokens: null }
  const isThought = written.trim() !== '' || hasThoughts(message)
  return { kind: 'failed', reason: isThought ? 'only-reasoning' : 'empty' }
}

const thoughtFields = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_blocks', 'thinking']

function isPresent(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined && value !== ''
}

function makesCall(message: JsonObject, finishReason: string | null): boolean {
  const hasCalls = Array.isArray(message['tool_calls']) && message['tool_calls'].length > 0
  return hasCalls || isJsonObject(message['function_call']) || finishReason === 'tool_calls'
}

function textOf(message: JsonObject): string {
  return contentParts(message['content'])
    .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    .join('\n')
}

function hasThoughts(message: JsonObject): boolean {
  const isBeside = thoughtFields.some((field) => isPresent(message[field]))
  return isBeside || contentParts(message['content']).some(({ kind }) => kind === 'reasoning')
}
