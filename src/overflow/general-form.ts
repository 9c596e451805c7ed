import type { WindowKind } from './classification.ts'
import { noNumbers, readCount, type StatedSizes } from './signature.ts'
import { isOfOtherLength, speaksOfLength } from './length-words.ts'

/**
 * Recognises an overflow in words that nobody has listed: they speak of input, prompt, context, messages or tokens,
 * and of a limit that these go beyond. Of two numbers the larger is the prompt and the smaller the window, if that is
 * what their neighbours say, too; in doubt no number is read.
 *
 * `expectedPromptTokens` is the caller's own count of the prompt: a number far from it is not about this prompt.
 */
export function readGeneralForm(words: string, expectedPromptTokens: number | null): StatedSizes | null {
  const said = words.slice(0, charactersMax)
  if (isOfOtherLength(said) || !speaksOfLength(said)) return null
  return readSizes(said, expectedPromptTokens)
}

// --- internal ---

/** A refusal takes a sentence or two. */
const charactersMax = 1500
/** Of a number's neighbours: enough for `the maximum context length of this model is`. */
const neighbourCharacters = 56
/** Below, a number is a code, a version or a share. */
const sizeTokensMin = 128
/** Own count and server's count differ by the tokeniser and the template, not by more. */
const countFactorMax = 2.5

type Sized = {
  readonly tokens: number
  readonly isWindow: boolean
  readonly isPrompt: boolean
  readonly isBound: boolean
  /** Nothing but its neighbours tells it from a code in brackets. */
  readonly isBare: boolean
}

const ofWindow =
  /(?:max(?:imum)?(?: \w+)?|limit|ceiling|window|context(?: (?:length|size|window|limit|budget))?|sequence length|n_ctx|max_\w+|num_ctx|at most|up to|no more than|supports?|only|less than(?: or equal to)?|fewer than|(?:greater|longer|larger|more|bigger|higher) than|exceed\w*|over|above|beyond|surpass\w*|<=?|>=?|\u2264|\u2265|超过|超出|大于|限制|上限|最大|长度|máximo|maximum|лимите?|höchstens|maximal)(?: (?:is|of|to|for|only|the|this|a|model|input|prompt|length|size|limit|context|allowed|supported|maximum|sequence|token|tokens|was|from|than)){0,6}[ :=(\u2026)]*$/i
const behindWindow =
  /^\)? ?(?:tokens? )?(?:(?:is|are) )?(?:(?:the )?(?:maximum|max|limit|allowed|available|supported|context|that the model|this model|can be held))|^ ?(?:token|トークン)?s? ?(?:を超え|を超過|limit|context)|^\)?を超/i
const ofPrompt =
  /(?:prompts?|inputs?|conversation|messages|request\w*|history|has|have|had|contains?|sent|passed|given|got|received|actual|current|found|needs?|holds?|resulted in|yours|n_prompt|tokens in prompt)(?: (?:length|size|is|are|of|tokens?|count|has|have|the|a|with|was|you|total|prompt|input|for)){0,4}[ :=(,]*$/i
const bound = /(?:at least|more than|over|>=?) ?$/i
const estimate = /(?:about|approximately|around|roughly|estimated|~) ?$/i
const ofOutput =
  /(?:output|completion|generat\w*|response|new|reply)(?: (?:tokens?|of|is|length|limit)){0,3}[ :=(]*$|max_(?:completion_|output_|new_)?tokens[ :=(]*$/i
const behindOutput = /^ ?(?:output|completion|new|generated|response)\b|^ (?:tokens )?(?:in|for|of) the (?:completion|output|response|reply)/i
const otherUnit =
  /^ ?(?:%|characters?|chars|bytes?|[kmg]i?b\b|ms\b|s\b|seconds?|messages?|images?|tools?|requests?|items?|k\b|m\b|字符|条)/i
const excess = /\bby (?:about |at least )?$/i
const behindExcess = /^ ?(?:tokens? )?(?:over|too many|too long|beyond|above)\b/i
const inputWindow = /max(?:imum)?[ _](?:\w+ ){0,2}(?:input|prompt)\b|(?:input|prompt) (?:token )?limit|max_(?:input|prompt)_tokens/i

function readSizes(said: string, expectedPromptTokens: number | null): StatedSizes {
  const kind = inputWindow.test(said) ? 'input' : 'total'
  const nothing: StatedSizes = { numbers: noNumbers, kind, exact: true }
  const sizes = distinct(sizesIn(said))
  const first = sizes[0]
  if (first === undefined) return nothing
  if (sizes.length === 1) return first.isWindow && !first.isBare ? stated(first, null, kind) : nothing
  const speaksOfOutput = /\bmax_tokens|output|completion|new tokens|generat/i.test(said)
  const windows = sizes.filter(({ isWindow, isPrompt }) => isWindow && !isPrompt)
  const [larger, smaller] = sizes.toSorted((one, other) => other.tokens - one.tokens)
  if (sizes.length > 2 || speaksOfOutput || larger === undefined || smaller === undefined) {
    // A split into parts: only a limit that is named as one can be told from them.
    const [window] = windows
    return window !== undefined && windows.length === 1 && !window.isBare ? stated(window, null, kind) : nothing
  }
  if (larger.isWindow && !larger.isPrompt && !smaller.isWindow) return nothing
  if (smaller.isPrompt && !smaller.isWindow) return nothing
  if (!isNear(larger.tokens, expectedPromptTokens)) return nothing
  return stated(smaller, larger, kind)
}

function stated(window: Sized, prompt: Sized | null, kind: WindowKind): StatedSizes {
  const numbers = { ...noNumbers, windowTokens: window.tokens, promptTokens: prompt?.tokens ?? null }
  return { numbers, kind, exact: prompt?.isBound !== true }
}

function isNear(tokens: number, expectedTokens: number | null): boolean {
  if (expectedTokens === null) return true
  return tokens <= expectedTokens * countFactorMax && tokens >= expectedTokens / countFactorMax
}

function distinct(sizes: readonly Sized[]): readonly Sized[] {
  const byTokens = new Map<number, Sized>()
  for (const size of sizes) {
    const before = byTokens.get(size.tokens)
    byTokens.set(size.tokens, {
      tokens: size.tokens,
      isWindow: size.isWindow || before?.isWindow === true,
      isPrompt: size.isPrompt || before?.isPrompt === true,
      isBound: size.isBound || before?.isBound === true,
      isBare: size.isBare && before?.isBare !== false,
    })
  }
  return [...byTokens.values()]
}

/** The numbers that count tokens of the prompt or of the window. */
function sizesIn(said: string): readonly Sized[] {
  const sizes: Sized[] = []
  for (const match of said.matchAll(/(?<![\w.,$-]|\d )\d[\d,._]*/g)) {
    const tokens = readCount(match[0].replace(/[,._]+$/, ''))
    const before = said.slice(Math.max(0, match.index - neighbourCharacters), match.index)
    const behind = said.slice(match.index + match[0].length, match.index + match[0].length + neighbourCharacters)
    if (tokens === null || tokens < sizeTokensMin || otherUnit.test(behind)) continue
    if (ofOutput.test(before) || behindOutput.test(behind)) continue
    if (excess.test(before) || behindExcess.test(behind)) continue
    sizes.push({
      tokens,
      isWindow: (ofWindow.test(before) && !bound.test(before)) || behindWindow.test(behind),
      isPrompt: ofPrompt.test(before),
      isBound: bound.test(before) || estimate.test(before),
      isBare: before.endsWith('(') && /^\)/.test(behind),
    })
  }
  return sizes
}
