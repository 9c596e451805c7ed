import { parseAnswerText } from '../dialects/answer-json.ts'
import type { Finish, Usage } from '../dialects/answer-contract.ts'
import type { Dialect, Written } from '../dialects/contract.ts'
import { classifyAnswer, type WholeAnswer } from '../overflow/classify.ts'
import type { StatedWindow } from '../overflow/classification.ts'
import { collectErrorFacts } from '../overflow/error-text.ts'
import { failure, type Failure } from './summary-record.ts'
import { withoutThoughts } from './transcript.ts'

/** What the answer to a call for a summary says. */
export type SummaryAnswer =
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
      /** The prompt's tokens; null if they are not stated, or not exactly. */
      readonly promptTokens: number | null
    }
  /** The output limit was too high. */
  | { readonly kind: 'limit-refused' }
  /** The call was refused as it is; another form of it may be accepted. */
  | { readonly kind: 'refused' }
  | Failure

/** Reads an answer, and what it cost: text is only what the model wrote as its answer, never its thoughts. */
export function readSummaryAnswer(
  answer: WholeAnswer,
  { answers, summaries }: Dialect,
): { readonly answer: SummaryAnswer; readonly usage: Usage | null } {
  const body = parseAnswerText(answer.body)
  const facts = answers.read(body)
  const error = isSuccess(answer.status) && facts?.isError !== true ? null : errorIn(answer, answers)
  return { answer: error ?? textIn(summaries.read(body), facts?.finish ?? null), usage: facts?.usage ?? null }
}

// --- internal ---

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Statuses by which a server may say that it does not like the call's form; some say it inside a 200. */
function isRefusal(status: number): boolean {
  return isSuccess(status) || status === 400 || status === 404 || status === 422
}

function errorIn(answer: WholeAnswer, answers: Dialect['answers']): SummaryAnswer {
  const { class: answerClass, window, promptTokens } = classifyAnswer(answer, answers)
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
      return failure('rate-limited')
    case 'denied':
      return failure(isUnauthorized(answer) ? 'unauthorized' : 'declined')
    case 'crowded':
      return failure('upstream-error')
    case 'order':
      return { kind: 'refused' }
    case 'other':
      return isRefusal(answer.status) ? { kind: 'refused' } : failure('upstream-error')
  }
}

/** Content policies answer `denied`, too, and say nothing of keys. */
function isUnauthorized({ status, body }: WholeAnswer): boolean {
  if (status === 401 || status === 407) return true
  const facts = collectErrorFacts(body)
  const isPolicy = /content.{0,20}polic|moderat|filtered|inappropriate/i.test(facts.text)
  return !isPolicy && (status === 403 || facts.statuses.some((inner) => inner === 401 || inner === 403))
}

/** What was written, in an answer without an error. */
function textIn(written: Written | null, finish: Finish | null): SummaryAnswer {
  if (written === null) return failure('unreadable')
  if (written.hasCalls || finish === 'calls') return failure('tool-call')
  if (written.hasRefusal || finish === 'filtered') return failure('declined')
  const text = withoutThoughts(written.text)
  const isFull = finish === 'window'
  if (text.trim() !== '') return { kind: 'text', text, isUnfinished: finish === 'length' || isFull }
  if (isFull) return { kind: 'overflow', window: null, promptTokens: null }
  return failure(written.text.trim() !== '' || written.hasThoughts ? 'only-reasoning' : 'empty')
}
