import { noNumbers, readCount, type StatedSizes } from './signature.ts'
import { isOfOtherLength, speaksOfLength, speaksOfTokens } from './length-words.ts'

/**
 * Recognises an overflow in words that nobody has listed: they speak of input, prompt, context, messages or tokens,
 * and of a limit that these go beyond. Of two numbers the larger is the prompt and the smaller the window, if that is
 * what their neighbours say, too; in doubt no number is read.
 *
 * `expectedPromptTokens` is the caller's own count of the prompt: a number far from it is not about this prompt.
 */
export function readGeneralForm(words: string, expectedPromptTokens: number | null): StatedSizes | null {
  const said = words.slice(0, charactersMax)
  if (isOfOtherLength(said)) return null
  if (speaksOfLength(said)) return readSizes(said, expectedPromptTokens)
  // Whose tokens these are, only the caller's count can tell.
  if (expectedPromptTokens === null || !speaksOfTokens(said)) return null
  const sizes = readSizes(said, expectedPromptTokens)
  return sizes.numbers.promptTokens === null ? null : sizes
}

// --- internal ---

/** A refusal takes a sentence or two. */
const charactersMax = 1500
/** Of a number's neighbours: enough for `the maximum context length of this model is`. */
const neighbourCharacters = 56
/** No window is this small; what is smaller may be a part of the prompt. */
const sizeTokensMin = 128
/** Smaller numbers count no tokens of a prompt. */
const partTokensMin = 32
/** Own count and server's count differ by the tokeniser and the template, not by more. */
const countFactorMax = 2.5

/** A number of tokens and what its neighbours say of it. */
type Sized = {
  readonly tokens: number
  readonly isWindow: boolean
  readonly isPrompt: boolean
  /** The prompt has at least as many. */
  readonly isBound: boolean
  /** Alone in brackets, where codes stand, too. */
  readonly isBare: boolean
}

type Sizes = {
  /** The window, the prompt, their parts and sums: each number once, the larger before the smaller. */
  readonly sizes: readonly Sized[]
  /** The reply that was asked for. */
  readonly outputTokens: number | null
  /** By how much the prompt is beyond the window. */
  readonly excessTokens: number | null
}

const ofWindow =
  /(?:max(?:imum)?(?: \w+)?|limit|ceiling|window|context(?: (?:length|size|window|limit|budget))?|n_ctx|max_\w+|num_ctx|at most|up to|no more than|supports?|only|less than(?: or equal to)?|fewer than|(?:greater|longer|larger|more|bigger|higher) than|exceed\w*|over|above|beyond|surpass\w*|<=?|>=?|\u2264|\u2265|超过|超出|大于|限制|上限|最大|长度|支持的|máximo|лимите?|höchstens|maximale?|kontextl\w{2,8}|contexte|contexto)(?: (?:is|of|to|for|only|the|this|a|model|input|prompt|length|size|limit|context|allowed|supported|maximum|sequence|token|tokens|was|from|than|von|de|du|di)){0,6}[ :=(\u2026)]*$/i
const behindWindow =
  /^\)? ?(?:tokens? )?(?:(?:is|are) )?(?:(?:the )?(?:maximum|max|limit|allowed|available|supported|context|that the model|this model|can be held))|^ ?(?:token|トークン)?s? ?(?:を超え|を超過|limit|context)|^\)?を超/i
const ofPrompt =
  /(?:prompts?|inputs?|conversation|messages|request\w*|history|has|have|had|contains?|sent|passed|given|got|received|actual|current|found|needs?|holds?|resulted in|yours|n_prompt|tokens in prompt)(?: (?:length|size|is|are|of|tokens?|count|has|have|the|a|with|was|you|total|prompt|input|for)){0,4}[ :=(,]*$/i
const bound = /(?:at least|more than|over) ?$/i
const ofOutput =
  /(?:output|completion|generat\w*|response|new|reply)(?: (?:tokens?|of|is|length|limit)){0,3}[ :=(]*$|(?<!\+ .?)max_(?:completion_|output_|new_)?tokens[ :=(]*$/i
const behindPrompt =
  /^ ?(?:input|prompt)\b|^ (?:tokens )?(?:in|from|of) (?:the |your )?(?:input |text )?(?:messages|prompt|input)/i
const speaksOfOutput = /\bmax_tokens|output|completion|new tokens|generat/i
const behindOutput = /^ ?(?:output|completion|new|generated|response)\b|^ (?:tokens )?(?:in|for|of) the (?:completion|output|response|reply)/i
const otherUnit =
  /^ ?(?:%|characters?|chars|bytes?|[kmg]i?b\b|ms\b|s\b|seconds?|messages?|images?|tools?|requests?|items?|k\b|m\b|字符|条)/i
/** `400 Bad Request`, `error code 413`. */
const status = /(?:^|\b(?:http|code|status|error)\b[ :=]{0,2})[45]\d\d[ :,]$/i
const excess = /\bby (?:about |at least )?$/i
const behindExcess = /^ ?(?:tokens? )?(?:over|too many|too long|beyond|above)\b/i
const inputWindow = /max(?:imum)?[ _](?:\w+ ){0,2}(?:input|prompt)\b|(?:input|prompt) (?:token )?limit|max_(?:input|prompt)_tokens/i

function readSizes(said: string, expectedPromptTokens: number | null): StatedSizes {
  const kind = inputWindow.test(said) ? 'input' : 'total'
  const read = sizesIn(said)
  const { window, prompt } = windowAndPrompt(read, speaksOfOutput.test(said))
  if (window === null || (prompt !== null && !isNear(prompt.tokens, expectedPromptTokens))) {
    return { numbers: noNumbers, kind, exact: true }
  }
  const numbers = {
    ...noNumbers,
    windowTokens: window.tokens,
    // Whoever counts characters has not counted tokens.
    promptTokens: /\bcharacters\b/i.test(said) ? null : (prompt?.tokens ?? null),
    outputTokens: read.outputTokens,
  }
  return { numbers, kind, exact: prompt?.isBound !== true }
}

type WindowAndPrompt = { readonly window: Sized | null; readonly prompt: Sized | null }

function windowAndPrompt({ sizes, outputTokens, excessTokens }: Sizes, withOutput: boolean): WindowAndPrompt {
  const [larger, smaller] = sizes
  const [named, ...others] = sizes.filter((size) => size.isWindow && !size.isPrompt && !size.isBare)
  const onlyNamed = named !== undefined && others.length === 0 ? named : null
  if (onlyNamed !== null && excessTokens !== null) {
    return { window: onlyNamed, prompt: { ...onlyNamed, tokens: onlyNamed.tokens + excessTokens } }
  }
  if (larger === undefined || smaller === undefined) {
    return { window: larger?.isWindow === true && !larger.isBare ? larger : null, prompt: null }
  }
  if (sizes.length === 2 && outputTokens === null) {
    const isContrary = (larger.isWindow && !larger.isPrompt && !smaller.isWindow) || isPromptOnly(smaller)
    const isPlain = !withOutput || (larger.isPrompt && smaller.isWindow)
    if (isPlain && !isContrary) return { window: smaller, prompt: larger }
  }
  if (onlyNamed === null) return { window: null, prompt: null }
  return { window: onlyNamed, prompt: promptAmong(sizes.filter((size) => size !== onlyNamed), outputTokens) }
}

/** The prompt among the numbers beside the window, if their sums or their neighbours say which it is. */
function promptAmong(sizes: readonly Sized[], outputTokens: number | null): Sized | null {
  const [first, ...rest] = sizes
  if (first === undefined) return null
  if (rest.length === 0) return first.isPrompt ? first : null
  const [second] = rest
  const isTotal = outputTokens !== null && first.tokens === (second?.tokens ?? 0) + outputTokens
  if (isTotal) return rest.length === 1 ? (second ?? null) : null
  const restTokens = rest.reduce((sum, { tokens }) => sum + tokens, 0)
  return outputTokens === null && first.tokens === restTokens ? first : null
}

function isPromptOnly({ isPrompt, isWindow }: Sized): boolean {
  return isPrompt && !isWindow
}

function isNear(tokens: number, expectedTokens: number | null): boolean {
  if (expectedTokens === null) return true
  return tokens <= expectedTokens * countFactorMax && tokens >= expectedTokens / countFactorMax
}

/** The numbers that count tokens. */
function sizesIn(said: string): Sizes {
  const sizes = new Map<number, Sized>()
  const outputs = new Set<number>()
  const excesses = new Set<number>()
  for (const match of said.matchAll(/(?<![\w.,$-]|\d )\d[\d,._]*/g)) {
    const spelt = match[0].replace(/[,._]+$/, '')
    const end = match.index + spelt.length
    const tokens = readCount(spelt)
    const before = said.slice(Math.max(0, match.index - neighbourCharacters), match.index)
    const behind = said.slice(end, end + neighbourCharacters)
    if (tokens === null || otherUnit.test(behind)) continue
    if (ofOutput.test(before) || behindOutput.test(behind)) outputs.add(tokens)
    else if (excess.test(before) || behindExcess.test(behind)) excesses.add(tokens)
    else if (tokens >= partTokensMin && !status.test(`${before.slice(-8)}${spelt}${behind.slice(0, 1)}`)) {
      sizes.set(tokens, together(sizes.get(tokens), sizedAs(tokens, before, behind)))
    }
  }
  return {
    sizes: [...sizes.values()].toSorted((one, other) => other.tokens - one.tokens),
    outputTokens: onlyOne(outputs),
    excessTokens: onlyOne(excesses),
  }
}

function sizedAs(tokens: number, before: string, behind: string): Sized {
  const isSize = tokens >= sizeTokensMin
  return {
    tokens,
    isWindow: isSize && ((ofWindow.test(before) && !/at least ?$/i.test(before)) || behindWindow.test(behind)),
    isPrompt: ofPrompt.test(before) || behindPrompt.test(behind),
    isBound: bound.test(before),
    isBare: before.endsWith('(') && behind.startsWith(')'),
  }
}

function together(one: Sized | undefined, other: Sized): Sized {
  if (one === undefined) return other
  return {
    tokens: one.tokens,
    isWindow: one.isWindow || other.isWindow,
    isPrompt: one.isPrompt || other.isPrompt,
    isBound: one.isBound || other.isBound,
    isBare: one.isBare && other.isBare,
  }
}

function onlyOne(counts: ReadonlySet<number>): number | null {
  const [count] = counts
  return counts.size === 1 && count !== undefined ? count : null
}
