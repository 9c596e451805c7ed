import {
  type AnswerClass,
  type Classification,
  noSizes,
  plainClassification,
  type Remedy,
  type StatedSizes,
} from './classification.ts'
import { namesOtherMatter, overflowCodes, vetoedByCode } from './error-codes.ts'
import type { ErrorFacts } from './error-text.ts'
import { readGeneralForm } from './general-form.ts'
import { isFault } from './words.ts'
import { readCount, windowTokensMin } from './token-numbers.ts'
import rows from './wordings.json' with { type: 'json' }

/** What an error is held against, beside its own facts. */
export type ErrorKnowledge = {
  /** The caller's own count of the prompt, in tokens, if it has one. */
  readonly expectedPromptTokens?: number | null
  /** The wordings that are known; all of them, but for whoever asks what is recognised without. */
  readonly signatures?: readonly OverflowSignature[]
}

/** An output share of the window from which a prompt of unknown size is best helped by less output. */
const clampShareMin = 1 / 2
/** Below this share less output gains nothing worth having. */
const clampShareWorth = 1 / 8

/**
 * What an error means. Its statuses and codes come before its words, and of its words only those that the server
 * itself says. Vetoes come first: a rate limit or an output cap speaks of tokens and limits, too, and some of them
 * carry numbers. Then codes that mean overflow, other codes, known wordings, and last the general form of a refusal.
 */
export function classifyError(
  facts: ErrorFacts,
  status: number,
  knowledge: ErrorKnowledge = {},
): Classification {
  const statuses = [status, ...facts.statuses]
  // Who passes an answer on has a status of its own for that: the server's is the innermost.
  const innermost = facts.statuses.at(-1) ?? status
  return (
    vetoed(facts, statuses) ??
    overflowing(facts, innermost, knowledge) ??
    (isCrowded(facts, statuses) ? plainClassification('crowded') : null) ??
    fromLookAlike(refusals.find((each) => matches(each, facts))) ??
    refusedByCode(facts, status) ??
    plainClassification('other')
  )
}

/*
 * Wordings of servers, each beside a sample. Patterns are matched against a server's own words (own-words.ts), whose length
 * is bounded; none nests a repetition in a repetition, so that a hostile text costs linear time.
 */

/** How one server words an overflow. */
type OverflowSignature = {
  readonly provider: string
  /** With the named groups `window`, `prompt`, `output` and `total` (prompt and output). */
  readonly pattern: RegExp
  readonly sample: string
  /** Whether the window counts the prompt alone. */
  readonly countsInput?: boolean
  /** Whether the server stops counting at its window, so that the prompt's size is a lower bound. */
  readonly stopsCounting?: boolean
  /** Whether the server says that less output is enough, where the prompt fits. */
  readonly takesLessOutput?: boolean
}

/**
 * Wordings that the general form would misread, or in which too little is said for it. The first pattern that matches
 * is taken: wordings with more numbers stand first.
 *
 * @internal exported for tests
 */
export const overflowSignatures: readonly OverflowSignature[] = rows.overflows.map((row) => ({
  ...row,
  // `{window}` stands for a number of tokens, however it is grouped.
  pattern: new RegExp(row.pattern.replaceAll(/\{([a-z]+)\}/g, String.raw`(?<$1>\d[\d,._]*)`), 'i'),
}))

/** A wording that speaks of tokens, limits or sizes, or refuses the order of messages, and is no overflow. */
type LookAlike = {
  readonly provider: string
  readonly class: AnswerClass
  readonly remedy: Remedy
  readonly pattern: RegExp
  readonly sample: string
}

/** @internal exported for tests. Looked at before any overflow wording: what matches here is never an overflow. */
export const vetoes: readonly LookAlike[] = [
  ...lookAlikes('rate', 'none', rows.vetoes.rate),
  ...lookAlikes('denied', 'none', rows.vetoes.denied),
  ...lookAlikes('output_too_large', 'clamp', rows.vetoes.output_too_large),
]

/** @internal exported for tests. Looked at after the overflow wordings. */
export const refusals: readonly LookAlike[] = [
  ...lookAlikes('payload_too_large', 'compact-count', rows.refusals['compact-count']),
  ...lookAlikes('payload_too_large', 'compact-bytes', rows.refusals['compact-bytes']),
  ...lookAlikes('order', 'none', rows.refusals.order),
]

/** Sizes, and whether the server itself says that less output is enough, where the prompt fits. */
type SignedSizes = StatedSizes & { readonly takesLessOutput: boolean }

/**
 * What the first signature that matches says of sizes; null where none does. What is no plausible number is left out.
 *
 * @internal exported for tests
 */
export function readSignature(words: string, signatures: readonly OverflowSignature[]): SignedSizes | null {
  for (const { pattern, countsInput = false, stopsCounting = false, takesLessOutput = false } of signatures) {
    const groups = pattern.exec(words)?.groups
    if (groups === undefined) continue
    const tokens = readCount(groups['window']) ?? 0
    const prompt = readCount(groups['prompt']) ?? 0
    return {
      ...noSizes,
      window: tokens < windowTokensMin ? null : { tokens, kind: countsInput ? 'input' : 'total' },
      promptTokens: prompt === 0 ? null : { tokens: prompt, exact: !stopsCounting },
      completionTokens: readCount(groups['output']),
      totalTokens: readCount(groups['total']),
      takesLessOutput,
    }
  }
  return null
}

// --- internal ---

const nothingStated: SignedSizes = { ...noSizes, takesLessOutput: false }

function vetoed(facts: ErrorFacts, statuses: readonly number[]): Classification | null {
  for (const each of statuses) {
    // 429 is a rate limit even when its text says "too many tokens" (a minute), and 402 is about credits.
    if (each === 429 || each === 402) return plainClassification('rate')
    if (each === 401 || each === 403 || each === 407) return plainClassification('denied')
  }
  const vetoClass = vetoedByCode(facts)
  if (vetoClass !== null) return plainClassification(vetoClass)
  return fromLookAlike(vetoes.find((each) => matches(each, facts)))
}

/** Sizes lead to a smaller request, so that only the server's own words state them. */
function matches({ class: answerClass, pattern }: LookAlike, { text, words }: ErrorFacts): boolean {
  const changesSize = answerClass === 'output_too_large' || answerClass === 'payload_too_large'
  return pattern.test(changesSize ? words : text)
}

function overflowing(facts: ErrorFacts, status: number, knowledge: ErrorKnowledge): Classification | null {
  const explicit = namesOverflow(facts)
  const isElsewhere = namesOtherMatter(facts) || isFault(facts.text)
  if (!explicit && isElsewhere) return null
  const wrapped = [...facts.exceptions].some((name) => overflowCodes.has(name))
  const stated = isElsewhere ? null : statedIn(facts, knowledge)
  if (!explicit && !wrapped && stated === null) return null
  const { takesLessOutput, ...sizes } = stated ?? nothingStated
  if (!explicit && !isCredible(facts, status, sizes)) return null
  const { window, promptTokens, completionTokens } = sizes
  const promptBeyond = promptTokens?.exact === true && window !== null && promptTokens.tokens >= window.tokens
  const outputBeyond = window !== null && completionTokens !== null && completionTokens >= window.tokens
  const onlyOutput = outputBeyond && !promptBeyond
  return {
    class: onlyOutput ? 'output_too_large' : 'overflow',
    ...sizes,
    remedy: onlyOutput
      ? 'clamp'
      : takesLessOutput && !promptBeyond
        ? 'less-output'
        : remedyFor(sizes, promptBeyond, outputBeyond, facts),
    afterOutput: false,
  }
}

/**
 * Servers in trouble speak of contexts, too: with a 5xx words need numbers of this request, the larger before the
 * smaller, and outside the statuses of refusals a number. LiteLLM has lost the status where a stream broke off, so
 * that its 503 is worth no more than another's 404.
 */
function isCredible(
  { exceptions }: ErrorFacts,
  status: number,
  { window, promptTokens, completionTokens, totalTokens }: StatedSizes,
): boolean {
  if (status >= 500 && !exceptions.has('midstreamfallbackerror')) {
    // vLLM answers Messages with 500 for any fault that it finds in a request, such as more output than its window.
    const askedTokens = totalTokens ?? (promptTokens?.tokens ?? 0) + (completionTokens ?? 0)
    return window !== null && askedTokens > window.tokens
  }
  return window !== null || promptTokens !== null || isRefusal(status)
}

/** llama.cpp's answer to each of several requests that together fill the memory which they share; and its kind. */
function isCrowded({ words }: ErrorFacts, statuses: readonly number[]): boolean {
  if (!statuses.some((each) => each >= 500)) return false
  return /context size has been exceeded|(?:kv|key-value)[ -]?cache.{0,60}(?:full|exhausted|no (?:free )?(?:space|slots?|room))|(?:no|find|free) (?:free )?(?:space|slots?|room).{0,40}kv/i.test(
    words,
  )
}

function remedyFor(
  { window, promptTokens, completionTokens, totalTokens }: StatedSizes,
  promptBeyond: boolean,
  outputBeyond: boolean,
  facts: ErrorFacts,
): Remedy {
  if (window === null || window.kind === 'input') return 'compact'
  if (promptBeyond) return outputBeyond ? 'clamp-or-compact' : 'compact'
  if (completionTokens === null) return totalTokens === null ? 'compact' : 'clamp-or-compact'
  // OpenAI's shape names the parameter at fault: where it names the history, that is to be shortened.
  if (promptTokens?.exact === true) return namesHistory(facts) ? 'compact' : 'clamp-or-compact'
  const share = completionTokens / window.tokens
  if (share >= clampShareMin) return 'clamp'
  return share >= clampShareWorth ? 'clamp-or-compact' : 'compact'
}

/** Whether it names the field of the history as being at fault, whatever the dialect. */
function namesHistory({ params }: ErrorFacts): boolean {
  return params.has('messages') || params.has('input')
}

/** Whether a field of its own says that it is an overflow. */
function namesOverflow({ codes }: ErrorFacts): boolean {
  return [...codes].some((code) => overflowCodes.has(code))
}

function statedIn(
  facts: ErrorFacts,
  { signatures, expectedPromptTokens }: ErrorKnowledge,
): SignedSizes | null {
  const read = readSignature(facts.words, signatures ?? overflowSignatures)
  // llama.cpp states both sizes as fields.
  const ofFields = {
    window: facts.windowTokens === null ? null : { tokens: facts.windowTokens, kind: 'total' as const },
    promptTokens: facts.promptTokens === null ? null : { tokens: facts.promptTokens, exact: true },
  }
  if (read === null && ofFields.window !== null && ofFields.promptTokens !== null)
    return { ...nothingStated, ...ofFields }
  // A server that names its refusal is not doubted because it counts otherwise than we do.
  const nearTokens = namesOverflow(facts) ? null : (expectedPromptTokens ?? null)
  const stated = read ?? readGeneralForm(facts.words, nearTokens)
  if (stated === null) return null
  return {
    takesLessOutput: false,
    ...stated,
    window: stated.window ?? ofFields.window,
    promptTokens: stated.promptTokens ?? ofFields.promptTokens,
  }
}

/** 200 stands for an error inside a successful answer. */
function isRefusal(status: number): boolean {
  return status === 400 || status === 413 || status === 422 || (status >= 200 && status < 300)
}

function refusedByCode(facts: ErrorFacts, status: number): Classification | null {
  const { codes, text } = facts
  if (codes.has('array_above_max_length') && namesHistory(facts)) {
    return plainClassification('payload_too_large', 'compact-count')
  }
  if (codes.has('3230') || codes.has('invalid_request_message_order')) return plainClassification('order')
  if (codes.has('request_too_large')) return plainClassification('payload_too_large', 'compact-bytes')
  if (status !== 413) return null
  // Cerebras answers an overflow with 413 and nothing else; a server that means bytes says so, if only in its page.
  return text === ''
    ? plainClassification('overflow', 'compact')
    : plainClassification('payload_too_large', 'compact-bytes')
}

function fromLookAlike(found: LookAlike | undefined): Classification | null {
  return found === undefined ? null : plainClassification(found.class, found.remedy)
}

type Row = { readonly provider: string; readonly pattern: string; readonly sample: string }

function lookAlikes(answerClass: AnswerClass, remedy: Remedy, found: readonly Row[]): readonly LookAlike[] {
  return found.map((row) => ({ ...row, class: answerClass, remedy, pattern: new RegExp(row.pattern, 'i') }))
}
