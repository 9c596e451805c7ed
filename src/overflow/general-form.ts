import { noSizes, type StatedSizes } from './classification.ts'
import { tokenNumbersIn, windowTokensMin, type TokenNumber, type TokenNumbers } from './token-numbers.ts'
import {
  comparesSizes,
  isOfOtherLimit,
  isOfOtherUnit,
  namesOtherCause,
  speaksOfLength,
  speaksOfTokens,
} from './words.ts'
import { sentencesIn, withoutLabels } from './own-words.ts'

/**
 * Recognises an overflow in words that nobody has listed: a sentence of them speaks of input, prompt, context, messages or
 * tokens, and of a limit that these go beyond. That sentence is the statement, with those that state its sizes; what others
 * say cannot undo it, unless they name another cause. Of two numbers the larger is the prompt and the smaller the window, if
 * that is what their neighbours say, too; in doubt no number is read.
 *
 * `expectedPromptTokens` is the caller's own count of the prompt: a number far from it is not about this prompt.
 */
export function readGeneralForm(words: string, expectedPromptTokens: number | null): StatedSizes | null {
  const said = words.slice(0, charactersMax)
  const finer = sentencesIn(said, 'capitals')
  if (finer.some(namesOtherCause)) return null
  return (
    readStatement(sentencesIn(said, 'points'), expectedPromptTokens) ??
    readStatement(finer, expectedPromptTokens)
  )
}

// --- internal ---

function readStatement(
  sentences: readonly string[],
  expectedPromptTokens: number | null,
): StatedSizes | null {
  const about = sentences.filter((sentence) => !isOfOtherLimit(sentence))
  const isStated = about.some(speaksOfLength)
  const sized = sentences.filter(
    (sentence) =>
      !isOfOtherUnit(sentence) &&
      ((about.includes(sentence) && (speaksOfLength(sentence) || comparesSizes(sentence))) ||
        tellsSizes(withoutLabels(sentence))),
  )
  const statement = sized.map(withoutLabels).join('. ')
  const isCompared = comparesSizes(statement) && tokenNumbersIn(statement).sizes.length > 1
  if (isStated || (isCompared && sized.some((sentence) => about.includes(sentence))))
    return readSizes(statement, expectedPromptTokens)
  // Whose tokens these are, only the caller's count can tell.
  if (expectedPromptTokens === null || !about.some(speaksOfTokens)) return null
  const sizes = readSizes(statement, expectedPromptTokens)
  return sizes.promptTokens === null ? null : sizes
}

/** A refusal takes a sentence or two, between a gateway's. */
const charactersMax = 4_000
/** Own count and server's count differ by the tokeniser and the template, not by more. */
const countFactorMax = 2.5

const speaksOfOutput = /\bmax_(?:completion_|output_|new_)?tokens|output|completion|new tokens|generat/i

/** Whether a number in it is a prompt's or a window's, by its neighbours. */
function tellsSizes(sentence: string): boolean {
  const { sizes, outputTokens, excessTokens } = tokenNumbersIn(sentence)
  const isTold = sizes.some(({ isWindow, isPrompt }) => isWindow || isPrompt)
  return isTold || (sizes.length > 0 && (outputTokens ?? excessTokens) !== null) || excessTokens !== null
}

function readSizes(said: string, expectedPromptTokens: number | null): StatedSizes {
  const read = tokenNumbersIn(said)
  const { window, prompt, totalTokens } = windowAndPrompt(read, speaksOfOutput.test(said))
  if (window === null || window.tokens < windowTokensMin) return noSizes
  if (prompt !== null && !isNear(prompt.tokens, expectedPromptTokens)) return noSizes
  // Whoever counts characters has not counted tokens.
  const isCounted = prompt !== null && !/\bcharacters\b/i.test(said)
  return {
    window: { tokens: window.tokens, kind: window.isOfInput ? 'input' : 'total' },
    promptTokens: isCounted ? { tokens: prompt.tokens, exact: !prompt.isBound } : null,
    completionTokens: read.outputTokens,
    totalTokens,
  }
}

type Named = {
  readonly window: TokenNumber | null
  readonly prompt: TokenNumber | null
  /** Prompt and output together, where the sum is stated. */
  readonly totalTokens: number | null
}

const nothingNamed: Named = { window: null, prompt: null, totalTokens: null }

function windowAndPrompt({ sizes, outputTokens, excessTokens }: TokenNumbers, withOutput: boolean): Named {
  const [larger, smaller] = sizes
  const [named, ...others] = sizes.filter((size) => size.isWindow && !size.isPrompt && !size.isBare)
  const window = named !== undefined && others.length === 0 ? named : null
  if (window !== null && excessTokens !== null)
    return { ...nothingNamed, window, prompt: { ...window, tokens: window.tokens + excessTokens } }
  if (larger === undefined) return nothingNamed
  if (smaller === undefined)
    return { ...nothingNamed, window: larger.isWindow && !larger.isBare ? larger : null }
  if (sizes.length === 2 && outputTokens === null) {
    const isContrary =
      (larger.isWindow && !larger.isPrompt && !smaller.isWindow) || (smaller.isPrompt && !smaller.isWindow)
    const isPlain = !withOutput || (larger.isPrompt && smaller.isWindow)
    if (isPlain && !isContrary) return { ...nothingNamed, window: smaller, prompt: larger }
  }
  if (window === null) return nothingNamed
  const beside = sizes.filter((size) => size !== window)
  const read = promptAmong(beside, outputTokens)
  // `808 tokens over the limit of 8192` counts what is too much.
  const isExcess = read.prompt?.isOver === true && read.prompt.tokens < window.tokens
  return { ...read, window, prompt: isExcess ? null : read.prompt }
}

/** The prompt among the numbers beside the window, if their sums or their neighbours say which it is. */
function promptAmong([first, ...parts]: readonly TokenNumber[], outputTokens: number | null): Named {
  const [part] = parts
  if (first === undefined) return nothingNamed
  if (part === undefined) return { ...nothingNamed, prompt: first.isPrompt ? first : null }
  const partsTokens = parts.reduce((sum, { tokens }) => sum + tokens, 0)
  if (first.tokens !== partsTokens + (outputTokens ?? 0)) return nothingNamed
  if (outputTokens === null) return { ...nothingNamed, prompt: first }
  // Of a prompt that was not counted to its end the sum is no more than a bound.
  const totalTokens = part.isBound ? null : first.tokens
  return { ...nothingNamed, prompt: { ...part, tokens: partsTokens }, totalTokens }
}

function isNear(tokens: number, expectedTokens: number | null): boolean {
  if (expectedTokens === null) return true
  return tokens <= expectedTokens * countFactorMax && tokens >= expectedTokens / countFactorMax
}
