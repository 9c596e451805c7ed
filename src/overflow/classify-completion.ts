import { classifyError, type ErrorKnowledge } from './classify-error.ts'
import { plainClassification, type Classification } from './classification.ts'
import type { AnswerFacts, Usage } from '../dialects/contract.ts'
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

/** How a (possibly streamed) answer ended, when it held no error. */
export type Ending = Pick<AnswerFacts, 'hasOutput' | 'finish' | 'usage'>

/** Classifies an answer with status 200 by its end: success, or one of the hidden overflows. */
export function classifyEnding(ending: Ending, { knownWindowTokens }: WindowKnowledge): Classification {
  const { hasOutput, finish, usage } = ending
  const plain = { ...plainClassification('other'), ...sizesOf(usage), afterOutput: hasOutput }
  const overflow: Classification = { ...plain, class: 'overflow', remedy: 'compact' }
  // What prompt and reply come to would be the window, if it were counted whole: it is stated nowhere.
  if (finish === 'window') return overflow
  if (knownWindowTokens === null || usage === null) return plain
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

// --- internal ---

function sizesOf(usage: Usage | null): Pick<Classification, 'promptTokens' | 'completionTokens'> {
  if (usage === null || usage.promptTokens === 0) return { promptTokens: null, completionTokens: null }
  return {
    promptTokens: { tokens: usage.promptTokens, exact: true },
    completionTokens: usage.completionTokens,
  }
}
