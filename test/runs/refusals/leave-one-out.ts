import { classifyAnswer } from '../../support/chat-completions.ts'
import { overflowCodes, overflowSignatures } from '../../../src/overflow/classify-error.ts'
import { collectErrorFacts } from '../../../src/overflow/error-text.ts'
import { createEventReader } from '../../../src/formats/event-reader.ts'
import { answerOfRecorded, type RecordedAnswer } from './expected.ts'

/** How one provider's answers are taken where none of its wordings is known. */
export type LeftOut = {
  readonly provider: string
  readonly signatures: readonly string[]
  readonly overflows: number
  readonly recognised: number
  readonly others: number
  /** The words of overflows that were missed. */
  readonly missed: readonly string[]
  /** The words of what was taken for an overflow and is none. */
  readonly mistaken: readonly string[]
}

/**
 * Every provider's answers, judged by their words alone: without the signatures that match any of them, and without
 * codes and fields that say what they are. What no words tell, e.g. an empty body, a finish reason or the mere code, is
 * left out, and so is what a full pool says.
 */
export function leaveEachOut(entries: readonly RecordedAnswer[]): readonly LeftOut[] {
  const providers = [...new Set(entries.map(({ provider }) => provider))].toSorted()
  return providers.map((provider) =>
    leaveOut(
      provider,
      entries.filter((entry) => entry.provider === provider),
    ),
  )
}

function leaveOut(provider: string, entries: readonly RecordedAnswer[]): LeftOut {
  const own = overflowSignatures.filter(({ pattern }) =>
    entries.some((entry) => pattern.test(wordsOf(entry))),
  )
  const signatures = overflowSignatures.filter((signature) => !own.includes(signature))
  const told = entries.filter((entry) => !entry.is_overflow || isTold(entry))
  const taken = told.filter((entry) => {
    const answer = { ...answerOfRecorded(entry), body: withoutCodes(entry) }
    return classifyAnswer(answer, { knownWindowTokens: null, signatures }).class === 'overflow'
  })
  const overflows = told.filter((entry) => entry.is_overflow)
  const missed = overflows.filter((entry) => !taken.includes(entry))
  return {
    provider,
    signatures: own.map((signature) => signature.provider),
    overflows: overflows.length,
    recognised: overflows.length - missed.length,
    others: told.length - overflows.length,
    missed: missed.map((entry) => `${entry.name}: ${wordsOf(entry)}`),
    mistaken: taken.filter((entry) => !entry.is_overflow).map((entry) => `${entry.name}: ${wordsOf(entry)}`),
  }
}

const fullPool = 'Context size has been exceeded.'
/** `refused` tells nothing. */
const wordlessCharactersMax = 8

function isTold(entry: RecordedAnswer): boolean {
  const words = wordsOf(entry)
  return words.length > wordlessCharactersMax && words !== fullPool
}

/** A server's own words; of a stream those of its errors. */
function wordsOf(entry: RecordedAnswer): string {
  const { contentType, body } = answerOfRecorded(entry)
  if (!contentType.includes('event-stream')) return collectErrorFacts(body).words
  const reader = createEventReader({ eventCharactersMax: body.length + 1 })
  const events = [...reader.feed(body), ...reader.end()]
  return events
    .map(({ data, error }) => collectErrorFacts(error === '' ? data : error).words)
    .filter((words) => words !== '' && words !== '[DONE]')
    .join('\n')
}

function withoutCodes(entry: RecordedAnswer): string {
  let { body } = answerOfRecorded(entry)
  for (const code of overflowCodes) body = body.replaceAll(new RegExp(`"${code}"`, 'gi'), '"bad_request"')
  return body
    .replaceAll(/"n_(?:ctx|prompt_tokens)"/g, '"n"')
    .replaceAll('ContextWindowExceededError', 'BadRequestError')
}
