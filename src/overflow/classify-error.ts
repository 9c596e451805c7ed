import {
  type AnswerClass,
  type Classification,
  noSizes,
  plainClassification,
  type Remedy,
  type StatedSizes,
} from './classification.ts'
import { collectErrorFacts, type ErrorFacts } from './error-text.ts'
import { readGeneralForm } from './general-form.ts'
import { sentencesIn } from './own-words.ts'
import { readCount, windowTokensMin } from './token-numbers.ts'
import rows from './wordings.json' with { type: 'json' }
import { isFault, isOfCaller } from './words.ts'
import words from './words.json' with { type: 'json' }

/** What an error is held against, beside its own facts. */
export type ErrorKnowledge = {
  /** The caller's own count of the prompt, in tokens, if it has one. */
  readonly expectedPromptTokens?: number | null
  /** The wordings that are known; all of them, but for whoever asks what is recognised without. */
  readonly signatures?: readonly OverflowSignature[]
}

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
  return (
    vetoed(facts, statuses) ??
    overflowing(facts, innermostStatus(facts, status), knowledge) ??
    (statuses.some((each) => each >= 500) ? lookAlike(crowded, facts) : null) ??
    lookAlike(refusals, facts) ??
    refusedByCode(facts, status) ??
    plainClassification('other')
  )
}

/**
 * What a refusal says that may be about the prompt's length, in words that no rule can read: without its numbers and ids, so
 * that it is the same the next time. Null where it is about something else, or a server in trouble that names no context.
 */
export function unknownWording(body: string, status: number): string | null {
  const facts = collectErrorFacts(body)
  const innermost = innermostStatus(facts, status)
  const isRefused = innermost === 400 || innermost === 413 || innermost === 422
  if (!isRefused && !(innermost === 500 && /\b(?:context|tokens?)\b/i.test(facts.words))) return null
  if (namesOtherMatter(facts) || isFault(facts.text)) return null
  // Advice stands behind most refusals, such as another plan.
  const stated = sentencesIn(facts.words, 'capitals').filter((sentence) => !advice.test(sentence))
  return stated.some(isOfCaller) ? null : facts.words.replaceAll(/\d+/g, '').slice(0, wordingCharactersMax)
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
type LookAlike = ReturnType<typeof lookAlikes>[number]

/** @internal exported for tests. Looked at before any overflow wording: what matches here is never an overflow. */
export const vetoes = [
  ...lookAlikes('rate', 'none', rows.vetoes.rate),
  ...lookAlikes('denied', 'none', rows.vetoes.denied),
  ...lookAlikes('output_too_large', 'clamp', rows.vetoes.output_too_large),
]

/** @internal exported for tests. Looked at after the overflow wordings. */
export const refusals = [
  ...lookAlikes('payload_too_large', 'compact-count', rows.refusals['compact-count']),
  ...lookAlikes('payload_too_large', 'compact-bytes', rows.refusals['compact-bytes']),
  ...lookAlikes('order', 'none', rows.refusals.order),
]

/**
 * What the first signature that matches says of sizes; null where none does. What is no plausible number is left out.
 *
 * @internal exported for tests
 */
export function readSignature(said: string, signatures: readonly OverflowSignature[]): SignedSizes | null {
  for (const { pattern, countsInput = false, stopsCounting = false, takesLessOutput = false } of signatures) {
    const groups = pattern.exec(said)?.groups
    if (groups === undefined) continue
    const tokens = readCount(groups['window']) ?? 0
    const prompt = readCount(groups['prompt']) ?? 0
    return {
      window: tokens < windowTokensMin ? null : { tokens, kind: countsInput ? 'input' : 'total' },
      promptTokens: prompt === 0 ? null : { tokens: prompt, exact: !stopsCounting },
      completionTokens: readCount(groups['output']),
      totalTokens: readCount(groups['total']),
      takesLessOutput,
    }
  }
  return null
}

/** @internal exported for tests. Codes that mean overflow whatever the text and the status say: values of code and type fields. */
export const overflowCodes: ReadonlySet<string> = new Set(words.codes.overflow)

// --- internal ---

/** Sizes, and whether the server itself says that less output is enough, where the prompt fits. */
type SignedSizes = StatedSizes & { readonly takesLessOutput: boolean }

/** What servers in trouble answer to each of several requests that together fill the memory which they share. */
const crowded = lookAlikes('crowded', 'none', rows.crowded)

const wordingCharactersMax = 400
const advice = /^(?:please|consider|try|see|visit|you (?:may|can))\b/i

/** An output share of the window from which a prompt of unknown size is best helped by less output. */
const clampShareMin = 1 / 2
/** Below this share less output gains nothing worth having. */
const clampShareWorth = 1 / 8

/** Whoever passes an answer on has a status of its own for that: the server's is the innermost. */
function innermostStatus(facts: ErrorFacts, status: number): number {
  return facts.statuses.at(-1) ?? status
}

function lookAlikes(
  answerClass: AnswerClass,
  remedy: Remedy,
  found: readonly { readonly provider: string; readonly pattern: string; readonly sample: string }[],
) {
  return found.map((row) => ({ ...row, class: answerClass, remedy, pattern: new RegExp(row.pattern, 'i') }))
}

function lookAlike(known: readonly LookAlike[], { text, words: own }: ErrorFacts): Classification | null {
  const found = known.find(({ class: answerClass, pattern }) => {
    // What leads to another request must be the server's own words.
    const isOwn = answerClass !== 'rate' && answerClass !== 'denied' && answerClass !== 'order'
    return pattern.test(isOwn ? own : text)
  })
  return found === undefined ? null : plainClassification(found.class, found.remedy)
}

function vetoed(facts: ErrorFacts, statuses: readonly number[]): Classification | null {
  for (const each of statuses) {
    // 429 is a rate limit even when its text says "too many tokens" (a minute), and 402 is about credits.
    if (each === 429 || each === 402) return plainClassification('rate')
    if (each === 401 || each === 403 || each === 407) return plainClassification('denied')
  }
  for (const code of [...facts.codes, ...facts.exceptions]) {
    if (words.codes.rate.includes(code)) return plainClassification('rate')
    if (words.codes.denied.includes(code)) return plainClassification('denied')
  }
  return lookAlike(vetoes, facts)
}

/**
 * Whether code, type or param names another matter than length, e.g. `invalid_image_url`, `model_not_found`,
 * `messages[3].content`: then the words decide nothing. Codes that could mean anything, e.g. `invalid_request_error`,
 * `BadRequestError`, `400`, name none, and prose in a code field is no code.
 */
function namesOtherMatter({ codes, exceptions, params, fields }: ErrorFacts): boolean {
  return (
    fields.size > 0 ||
    [...codes, ...exceptions].some((code) => /^[\w.:-]{1,64}$/.test(code) && otherMatter.test(code)) ||
    [...params].some((param) => !lengthParam.test(param))
  )
}

const otherMatter = new RegExp(words.codes.otherMatter.join('|'))

/** A param that an overflow may be blamed on. */
const lengthParam =
  /^(?:(?:body|request)\.?)?(?:messages|inputs?|prompts?|contents?|text|query|context(?:_\w+)?|input_\w+|prompt_\w+|(?:max_|num_|n_)?\w{0,20}tokens|max_\w+|n_ctx|num_ctx|body|request|null|none)?$/

function overflowing(facts: ErrorFacts, status: number, knowledge: ErrorKnowledge): Classification | null {
  const isNamed = namesOverflow(facts.codes)
  const isElsewhere = namesOtherMatter(facts) || isFault(facts.text)
  if (!isNamed && isElsewhere) return null
  const stated = isElsewhere ? null : statedIn(facts, isNamed, knowledge)
  if (!isNamed && !namesOverflow(facts.exceptions) && stated === null) return null
  const { takesLessOutput, ...sizes } = stated ?? nothingStated
  if (!isNamed && !isCredible(facts, status, sizes)) return null
  const { window, promptTokens, completionTokens } = sizes
  const promptBeyond = promptTokens?.exact === true && window !== null && promptTokens.tokens >= window.tokens
  const outputBeyond = window !== null && completionTokens !== null && completionTokens >= window.tokens
  if (outputBeyond && !promptBeyond)
    return { class: 'output_too_large', ...sizes, remedy: 'clamp', afterOutput: false }
  const remedy =
    takesLessOutput && !promptBeyond ? 'less-output' : remedyFor(sizes, promptBeyond, outputBeyond, facts)
  return { class: 'overflow', ...sizes, remedy, afterOutput: false }
}

const nothingStated: SignedSizes = { ...noSizes, takesLessOutput: false }

/** Whether one of these says that it is an overflow. */
function namesOverflow(codes: ReadonlySet<string>): boolean {
  return [...codes].some((code) => overflowCodes.has(code))
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
  // 200 stands for an error inside a successful answer.
  const isRefusal = status === 400 || status === 413 || status === 422 || (status >= 200 && status < 300)
  return window !== null || promptTokens !== null || isRefusal
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

function statedIn(
  facts: ErrorFacts,
  isNamed: boolean,
  { signatures = overflowSignatures, expectedPromptTokens = null }: ErrorKnowledge,
): SignedSizes | null {
  const read = readSignature(facts.words, signatures)
  // llama.cpp states both sizes as fields.
  const window = facts.windowTokens === null ? null : { tokens: facts.windowTokens, kind: 'total' as const }
  const promptTokens = facts.promptTokens === null ? null : { tokens: facts.promptTokens, exact: true }
  if (read === null && window !== null && promptTokens !== null)
    return { ...nothingStated, window, promptTokens }
  // A server that names its refusal is not doubted because it counts otherwise than we do.
  const stated = read ?? readGeneralForm(facts.words, isNamed ? null : expectedPromptTokens)
  if (stated === null) return null
  return {
    takesLessOutput: false,
    ...stated,
    window: stated.window ?? window,
    promptTokens: stated.promptTokens ?? promptTokens,
  }
}

function refusedByCode(facts: ErrorFacts, status: number): Classification | null {
  const { codes, text } = facts
  if (codes.has('array_above_max_length') && namesHistory(facts))
    return plainClassification('payload_too_large', 'compact-count')
  if (codes.has('3230') || codes.has('invalid_request_message_order')) return plainClassification('order')
  if (codes.has('request_too_large')) return plainClassification('payload_too_large', 'compact-bytes')
  if (status !== 413) return null
  // Cerebras answers an overflow with 413 and nothing else; a server that means bytes says so, if only in its page.
  return text === ''
    ? plainClassification('overflow', 'compact')
    : plainClassification('payload_too_large', 'compact-bytes')
}
