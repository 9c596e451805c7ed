import { classifyError, type ErrorKnowledge } from './classify-error.ts'
import { plainClassification, type Classification } from './classification.ts'
import type { AnswerFacts, Answers } from '../formats/answer-contract.ts'
import { parseAnswerText } from '../formats/answer-json.ts'
import { collectErrorFactsFrom } from './error-text.ts'

export type WindowKnowledge = ErrorKnowledge & {
  /**
   * The window that the model is known to have, in the server's tokens; null where it is a guess. With it, answers
   * that hide an overflow are seen: an empty one that ends with `length`, or a prompt larger than the window. They do not
   * state it: it is still only what we believe.
   */
  readonly knownWindowTokens: number | null
}

/** An empty answer that ends with `length` is an overflow when the prompt fills this share of the window (pi's rule). */
const fullShareMin = 0.99

/** Classifies a (possibly streamed) answer with status 200 and no error by its end: success, or one of the hidden overflows. */
export function classifyEnding(
  { hasOutput, finish, usage }: Pick<AnswerFacts, 'hasOutput' | 'finish' | 'usage'>,
  { knownWindowTokens }: WindowKnowledge,
): Classification {
  const isCounted = usage !== null && usage.isSum !== true && usage.promptTokens > 0
  const plain: Classification = {
    ...plainClassification('other'),
    promptTokens: isCounted ? { tokens: usage.promptTokens, exact: true } : null,
    completionTokens: isCounted ? usage.completionTokens : null,
    afterOutput: hasOutput,
  }
  const overflow: Classification = { ...plain, class: 'overflow', remedy: 'compact' }
  // What prompt and reply come to would be the window, if it were counted whole: it is stated nowhere.
  if (finish === 'window') return overflow
  if (knownWindowTokens === null || usage === null || usage.isSum === true) return plain
  const known: Classification = { ...overflow, window: { tokens: knownWindowTokens, kind: 'total' } }
  const isEmpty = !hasOutput && (usage.completionTokens ?? 0) === 0
  if (finish === 'length' && isEmpty && usage.promptTokens >= fullShareMin * knownWindowTokens) return known
  // Z.ai takes a prompt beyond the window without a word; LM Studio answers it with nothing (its tracker, #2339).
  return usage.promptTokens > knownWindowTokens ? known : plain
}

/** Classifies a parsed answer or chunk with status 200 that states an error. */
export function classifyInnerError(
  body: unknown,
  afterOutput: boolean,
  knowledge: ErrorKnowledge = {},
): Classification {
  return { ...classifyError(collectErrorFactsFrom(body), 200, knowledge), afterOutput }
}

/** What the body of a plain answer with status 200 means. */
export type JudgedJson = {
  /** Null for what is not ours to judge: no JSON, or no answer. */
  readonly facts: AnswerFacts | null
  readonly classification: Classification
}

/** Judges the body of a plain answer with status 200: an error, or an answer that may hide an overflow. */
export function judgeJson(body: string, answers: Answers, knowledge: WindowKnowledge): JudgedJson {
  return judgeFacts(answers.read(parseAnswerText(body)), knowledge)
}

/** The same of one that was read. */
export function judgeFacts(facts: AnswerFacts | null, knowledge: WindowKnowledge): JudgedJson {
  if (facts === null) return { facts, classification: plainClassification('other') }
  const classification = facts.isError
    ? classifyInnerError(facts.said, facts.hasOutput, knowledge)
    : classifyEnding(facts, knowledge)
  return { facts, classification }
}
