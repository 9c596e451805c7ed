import { contentParts } from '../conversation/content.ts'
import { isJsonObject, stringOr, type JsonObject } from '../conversation/json-value.ts'
import { classifyAnswer } from '../overflow/classify.ts'
import type { StatedWindow } from '../overflow/classification.ts'
import { readCompletion, type Usage } from '../overflow/completion.ts'
import { parseJson } from '../overflow/parse-json.ts'
import type { FailureReason } from './failure.ts'
import { withoutThoughts } from './thoughts.ts'

export type Answer = { readonly status: number; readonly contentType: string; readonly body: string }

/** What the answer to a request for a summary says. */
export type Reading = { readonly usage: Usage | null } & (
  | {
      readonly kind: 'text'
      readonly text: string
      /** The output limit cut it off. */ readonly isUnfinished: boolean
    }
  /** The prompt was too large, for a window that is stated or not. */
  | {
      readonly kind: 'overflow'
      readonly window: StatedWindow | null
      /** Stated exactly. */ readonly promptTokens: number | null
    }
  /** The output limit was too high. */
  | { readonly kind: 'limit-refused' }
  /** The request was refused as it is; another form of it may be accepted. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed'; readonly reason: FailureReason }
)

/** Reads an answer: text is only what the model wrote as its answer, never its thoughts. */
export function readAnswer(answer: Answer): Reading {
  const parsed = parseJson(answer.body)
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

/** Statuses by which a server may say that it does not like the request's form. A gateway may wrap one in 500. */
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
      return { kind: 'limit-refused' }
    case 'rate':
      return { kind: 'failed', reason: 'rate-limited' }
    case 'denied':
      return { kind: 'failed', reason: isUnauthorized(answer) ? 'unauthorized' : 'declined' }
    case 'order':
      return { kind: 'refused' }
    case 'other':
      return isRefusal(status) ? { kind: 'refused' } : { kind: 'failed', reason: 'upstream-error' }
  }
}

/** `denied` is also what content policies answer; those do not speak of keys. */
function isUnauthorized({ status, body }: Answer): boolean {
  return (
    status === 401 ||
    status === 407 ||
    (status === 403 && !/content.{0,20}polic|moderation|filtered/i.test(body.slice(0, 4096))) ||
    /\b(?:401|invalid.{0,5}api.{0,2}key)\b/i.test(body.slice(0, 4096))
  )
}

/** An answer without an error: the first choice. */
function choiceIn(body: JsonObject, finishReason: string | null): Bare {
  const choices = Array.isArray(body['choices']) ? body['choices'] : []
  const choice: unknown = choices[0]
  if (!isJsonObject(choice))
    return {
      kind: 'failed',
      reason: choices.length === 0 && Array.isArray(body['choices']) ? 'empty' : 'unreadable',
    }
  const message = isJsonObject(choice['message']) ? choice['message'] : null
  const written = message === null ? stringOr(choice['text'], '') : textOf(message)
  const text = withoutThoughts(written)
  if (message !== null && makesCall(message, finishReason)) return { kind: 'failed', reason: 'tool-call' }
  if (finishReason === 'content_filter' || (message !== null && stringOr(message['refusal'], '') !== ''))
    return { kind: 'failed', reason: 'declined' }
  const isFull = finishReason === 'model_context_window_exceeded'
  if (text.trim() !== '') return { kind: 'text', text, isUnfinished: finishReason === 'length' || isFull }
  if (isFull) return { kind: 'overflow', window: null, promptTokens: null }
  const hasThoughts =
    written.trim() !== '' || (message !== null && thoughtFields.some((field) => isPresent(message[field])))
  return { kind: 'failed', reason: hasThoughts || hasThoughtParts(message) ? 'only-reasoning' : 'empty' }
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

function hasThoughtParts(message: JsonObject | null): boolean {
  return message !== null && contentParts(message['content']).some(({ kind }) => kind === 'reasoning')
}
