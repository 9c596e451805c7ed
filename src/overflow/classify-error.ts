import { plainClassification, type Classification, type Remedy } from './classification.ts'
import type { ErrorFacts } from './error-text.ts'
import { refusals, vetoCodes, vetoes, type LookAlike } from './look-alikes.ts'
import { readNumbers, type StatedNumbers } from './signature.ts'
import { overflowCodes, overflowNumericCodes, overflowSignatures } from './signatures.ts'

/** An output share of the window from which a prompt of unknown size is best helped by less output. */
const clampShareMin = 1 / 2
/** Below this share less output gains nothing worth having. */
const clampShareWorth = 1 / 8

/**
 * What an error means. Vetoes come first: a rate limit or an output cap speaks of tokens and limits, too, and
 * some of them carry numbers. Then explicit codes, then wordings.
 */
export function classifyError(facts: ErrorFacts, status: number): Classification {
  return (
    vetoed(facts, status) ??
    (isCrowded(facts, status) ? plainClassification('crowded') : null) ??
    overflowing(facts, status) ??
    fromLookAlike(refusals.find(({ pattern }) => pattern.test(facts.text))) ??
    refusedByCode(facts, status) ??
    plainClassification('other')
  )
}

// --- internal ---

function vetoed(facts: ErrorFacts, status: number): Classification | null {
  for (const each of [status, ...facts.statuses]) {
    // 429 is a rate limit even when its text says "too many tokens" (a minute), and 402 is about credits.
    if (each === 429 || each === 402) return plainClassification('rate')
    if (each === 401 || each === 403 || each === 407) return plainClassification('denied')
  }
  for (const code of facts.codes) {
    const vetoClass = Object.hasOwn(vetoCodes, code) ? vetoCodes[code] : undefined
    if (vetoClass !== undefined) return plainClassification(vetoClass)
  }
  return fromLookAlike(vetoes.find(({ pattern }) => pattern.test(facts.text)))
}

/** llama.cpp's slots share their memory, and fail together once it is full: with these words, and a status of trouble. */
function isCrowded({ text, statuses }: ErrorFacts, status: number): boolean {
  return [status, ...statuses].some((each) => each >= 500) && /context size has been exceeded/i.test(text)
}

function overflowing(facts: ErrorFacts, status: number): Classification | null {
  const stated = statedIn(facts)
  const explicit = hasOverflowCode(facts)
  if (!explicit && stated === null) return null
  const { windowTokens, promptTokens, outputTokens, totalTokens } = stated?.numbers ?? noNumbers
  // An outage may speak of context lengths: outside the statuses of refusals a wording needs numbers behind it.
  if (!explicit && windowTokens === null && promptTokens === null && !isRefusal(status)) return null

  const prompt = promptTokens === null ? null : { tokens: promptTokens, exact: stated?.exact ?? false }
  const window = windowTokens === null ? null : { tokens: windowTokens, kind: stated?.kind ?? 'total' }
  const numbers = { window, promptTokens: prompt, completionTokens: outputTokens, totalTokens }
  const promptBeyond = prompt?.exact === true && window !== null && prompt.tokens >= window.tokens
  const outputBeyond = window !== null && outputTokens !== null && outputTokens >= window.tokens
  const onlyOutput = outputBeyond && !promptBeyond
  return {
    class: onlyOutput ? 'output_too_large' : 'overflow',
    ...numbers,
    remedy: onlyOutput ? 'clamp' : remedyFor(numbers, promptBeyond, outputBeyond, facts),
    afterOutput: false,
  }
}

function remedyFor(
  numbers: Pick<Classification, 'window' | 'promptTokens' | 'completionTokens' | 'totalTokens'>,
  promptBeyond: boolean,
  outputBeyond: boolean,
  facts: ErrorFacts,
): Remedy {
  const { window, promptTokens, completionTokens, totalTokens } = numbers
  if (window === null || window.kind === 'input') return 'compact'
  if (promptBeyond) return outputBeyond ? 'clamp-or-compact' : 'compact'
  if (completionTokens === null) return totalTokens === null ? 'compact' : 'clamp-or-compact'
  // OpenAI's shape names the parameter at fault: where it names the messages, they are to be shortened.
  if (promptTokens?.exact === true) return facts.params.has('messages') ? 'compact' : 'clamp-or-compact'
  const share = completionTokens / window.tokens
  if (share >= clampShareMin) return 'clamp'
  return share >= clampShareWorth ? 'clamp-or-compact' : 'compact'
}

const noNumbers: StatedNumbers = {
  windowTokens: null,
  promptTokens: null,
  outputTokens: null,
  totalTokens: null,
}

function statedIn(facts: ErrorFacts) {
  for (const { pattern, kind, promptIs } of overflowSignatures) {
    const match = pattern.exec(facts.text)
    if (match === null) continue
    const read = readNumbers(match.groups ?? {})
    const numbers = {
      ...read,
      windowTokens: read.windowTokens ?? facts.windowTokens,
      promptTokens: read.promptTokens ?? facts.promptTokens,
    }
    return { numbers, kind, exact: promptIs === 'exact' }
  }
  const { windowTokens, promptTokens } = facts
  if (windowTokens === null || promptTokens === null) return null
  return { numbers: { ...noNumbers, windowTokens, promptTokens }, kind: 'total' as const, exact: true }
}

function hasOverflowCode({ codes, text }: ErrorFacts): boolean {
  if (overflowNumericCodes.some((code) => codes.has(code))) return true
  const lowerText = text.toLowerCase()
  return overflowCodes.some((code) => codes.has(code) || lowerText.includes(code))
}

/** 200 stands for an error inside a successful answer. */
function isRefusal(status: number): boolean {
  return status === 400 || status === 413 || status === 422 || (status >= 200 && status < 300)
}

function refusedByCode({ codes, text, params }: ErrorFacts, status: number): Classification | null {
  if (codes.has('array_above_max_length') && params.has('messages')) {
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
