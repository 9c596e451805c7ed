/** A number of tokens and what its neighbours say of it. */
export type TokenNumber = Readonly<ReturnType<typeof sizedAs>>

export type TokenNumbers = ReturnType<typeof tokenNumbersIn>

/** The numbers of a text that count tokens. */
export function tokenNumbersIn(said: string) {
  const sizes = new Map<number, TokenNumber>()
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
  // Said once more without its name, e.g. in a sum, it still is the reply. The window may be as large as the reply.
  for (const output of outputs) {
    const size = sizes.get(output)
    if (size?.isPrompt === false && !size.isWindow) sizes.delete(output)
  }
  return {
    /** The window, the prompt, their parts and sums: each number once, the larger before the smaller. */
    sizes: [...sizes.values()].toSorted((one, other) => other.tokens - one.tokens),
    /** The reply that was asked for. */
    outputTokens: onlyOne(outputs),
    /** By how much the prompt is beyond the window. */
    excessTokens: onlyOne(excesses),
  }
}

/** No model has a window that is smaller: such a number is a code, a version, or a part of the prompt. */
export const windowTokensMin = 1_024

/** `8192`, `8,192`, `8_192`, `8.192.000`, `72417.0`, with punctuation behind it; null for anything else. */
export function readCount(text: string | undefined): number | null {
  if (text === undefined) return null
  const bare = text.replaceAll(/[,_]/g, '').replace(/\.$/, '')
  const spelt = bare.split('.').length > 2 ? bare.replaceAll('.', '') : bare
  const count = spelt === '' ? Number.NaN : Math.ceil(Number(spelt))
  return Number.isSafeInteger(count) && count >= 0 && count <= tokensMax ? count : null
}

// --- internal ---

/** No model has a window this large: such a number is a code or a joke. */
const tokensMax = 1_000_000_000

/** Of a number's neighbours: enough for `the maximum context length of this model is`. */
const neighbourCharacters = 56
/** Smaller numbers count no tokens of a prompt. */
const partTokensMin = 32

const ofWindow =
  /(?:max(?:imum)?(?: \w+)?|limit|ceiling|capacity|window|context(?: (?:length|size|window|limit|budget))?|n_ctx|max_\w+|num_ctx|at most|up to|no more than|supports?|only|less than(?: or equal to)?|fewer than|holds?|accepts?|handle|reads?|configured|<=?|>=?|\u2264|\u2265|超过|超出|大于|限制|上限|最大|长度|支持的?|máximo|лимите?|höchstens|maximale?|kontextl\w{2,8}|contexte|contexto)(?: (?:is|of|to|for|only|the|this|a|model|input|prompt|length|size|limit|context|allowed|supported|maximum|sequence|token|tokens|was|from|than|von|de|du|di)){0,6}[ :=(\u2026)]*$/i
const beyondWindow =
  /(?:(?:greater|longer|larger|more|bigger|higher) than|exceed\w*|over|above|beyond|surpass\w*|\d (?:out )?of|\d ?\/)(?: (?:is|of|to|for|only|the|this|a|model|input|prompt|length|size|limit|context|allowed|supported|maximum|sequence|token|tokens)){0,6}[ (\u2026]*$/i
const behindWindow =
  /^\)? ?(?:tokens? )?(?:(?:is|are) )?(?:(?:the )?(?:maximum|max|limit|allowed|available|supported|context|that the model|this model|can be held))|^ ?(?:token|トークン)?s? ?(?:を超え|を超過|limit|context)|^\)?を超/i
const ofPrompt =
  /(?:prompts?|inputs?|conversation|messages|request\w*|history|has|have|had|contains?|sent|passed|given|got|received|actual|current|found|needs?|holds?|resulted in|yours|n_prompt|tokens in prompt)(?: (?:length|size|is|are|of|tokens?|count|has|have|the|a|with|was|you|total|prompt|input|for)){0,4}[ :=(,]*$/i
const bound = /(?:at least|more than|over) ?$/i
const ofOutput =
  /(?:output|completion|generat\w*|response|new|reply)(?: (?:tokens?|of|is|length|limit)){0,3}[ :=(]*$|(?<!\+ .?)max_(?:completion_|output_|new_)?tokens[ :=(]*$/i
const behindPrompt =
  /^ ?(?:input|prompt)\b|^ (?:tokens )?(?:in|from|of) (?:the |your )?(?:input |text |tool |image )?(?:messages|prompt|input)/i
const behindOutput =
  /^ ?(?:output|completion|new|generated|response)\b|^ (?:tokens )?(?:in|for|of) the (?:completion|output|response|reply)/i
const otherUnit =
  /^ ?(?:%|(?:(?!tokens?|input|prompt)[a-z]+ )?(?:characters?|chars|bytes?)|[KMGkmg]i?[Bb]\b|ms\b|s\b|seconds?|messages?|images?|tools?|requests?|items?|[kKmM]\b|字符|条)/
/** `400 Bad Request`, `error code 413`. */
const status = /(?:^|\b(?:http|code|status|error)\b[ :=]{0,2})[45]\d\d[ :,]$/i
const excess = /\bby (?:about |at least )?$/i
const behindExcess =
  /^ ?(?:tokens? )?(?:over|too many|too long|beyond|above)\b[^\d]*$|^ ?tokens? (?:longer|larger|more) than\b/i
const inputWindow =
  /(?:max(?:imum)?(?: (?:allowed|number of))?[ _](?:input|prompt)|(?:input|prompt)(?: tokens?)? limit)(?:[ _](?:tokens?|length|size|is|of|to|limit)){0,3}[ :=(]*$/i

function sizedAs(tokens: number, before: string, behind: string) {
  const isBeyond = ofWindow.test(before) || beyondWindow.test(before)
  const isLimit = (isBeyond && !/at least ?$/i.test(before)) || behindWindow.test(behind)
  return {
    tokens,
    isWindow: tokens >= windowTokensMin && isLimit,
    isPrompt: ofPrompt.test(before) || behindPrompt.test(behind),
    /** A window of the prompt alone, e.g. `maximum input length`. */
    isOfInput: inputWindow.test(before),
    /** Said to be over the limit: the whole prompt, or what is too much of it. */
    isOver: /^ ?tokens? (?:over|above|beyond)\b/i.test(behind),
    /** The prompt has at least as many. */
    isBound: bound.test(before),
    /** Alone in brackets, where codes stand, too. */
    isBare: before.endsWith('(') && behind.startsWith(')'),
  }
}

/** What is said of a number in one place or the other. */
function together(one: TokenNumber | undefined, other: TokenNumber): TokenNumber {
  if (one === undefined) return other
  return {
    ...other,
    isWindow: one.isWindow || other.isWindow,
    isPrompt: one.isPrompt || other.isPrompt,
    isOfInput: one.isOfInput || other.isOfInput,
    isOver: one.isOver || other.isOver,
    isBound: one.isBound || other.isBound,
    isBare: one.isBare && other.isBare,
  }
}

function onlyOne(counts: ReadonlySet<number>): number | null {
  const [count] = counts
  return counts.size === 1 && count !== undefined ? count : null
}
