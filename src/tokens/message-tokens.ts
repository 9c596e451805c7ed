import type { Media, MessageFacts, ParsedMessage } from '../conversation/message.ts'
import type { Pausable } from '../json/source.ts'
import type { TokenCounter } from './bpe-counter.ts'
import { mediaTokens } from './media-tokens.ts'

/** What the reply is primed with, once a request. The formula is OpenAI's own: its cookbook, "how to count tokens". */
export const PRIMING_TOKENS = 3

/** Around each message: 3 of framing and 1 for the role, which is one token in both encodings. */
export const MESSAGE_FRAME_TOKENS = 3 + 1

/**
 * The tokens of one message with its framing, its calls, its media and the thoughts sent back with it, in the counter's
 * encoding: no ratio is applied.
 */
export function* messageTokens(
  parsed: ParsedMessage,
  facts: MessageFacts,
  counter: TokenCounter,
  model: string,
): Pausable<number> {
  let tokens = yield* frameTokens(facts, counter.countSteps)
  tokens += yield* counter.countSteps(parsed.text)
  for (const call of yield* callTokens(parsed.calls, counter.countSteps)) tokens += call
  tokens += yield* uncutTokens(parsed, counter.countSteps)
  return tokens + (yield* allMediaTokens(facts.media, model))
}

/** The framing of a message, its name and the names of its calls. */
export function* frameTokens(
  facts: Pick<MessageFacts, 'name' | 'callNames'>,
  countSteps: CountSteps,
): Pausable<number> {
  let tokens = MESSAGE_FRAME_TOKENS
  if (facts.name !== null) tokens += 1 + (yield* countSteps(facts.name))
  for (const [position, callName] of facts.callNames.entries()) {
    tokens += callFrameTokens + (yield* countSteps(callName))
    if (position % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield
  }
  return facts.callNames.length > 1 ? tokens + parallelFrameTokens : tokens
}

/** The arguments of each call. */
export function* callTokens(calls: ParsedMessage['calls'], countSteps: CountSteps): Pausable<number[]> {
  const sizes: number[] = []
  for (const { argumentsText } of calls) {
    sizes.push(yield* countSteps(argumentsText))
    if (sizes.length % PARTS_PER_STEP === 0) yield
  }
  return sizes
}

/** All media of a message, with what they weigh for a model. */
export function* allMediaTokens(media: readonly Media[], model: string): Pausable<number> {
  let tokens = 0
  for (const [position, each] of media.entries()) {
    tokens += mediaTokens(each, model)
    if (position % PARTS_PER_STEP === PARTS_PER_STEP - 1) yield
  }
  return tokens
}

/** What a message holds that counts and is never rewritten. */
export function* uncutTokens(
  parsed: Pick<ParsedMessage, 'uncut' | 'opaqueCharacters'>,
  countSteps: CountSteps,
): Pausable<number> {
  return (yield* countSteps(parsed.uncut)) + Math.ceil(parsed.opaqueCharacters / opaqueCharactersPerToken)
}

/**
 * The thoughts of an assistant message that stand in its text, as reasoning models of open weights write them: their
 * templates drop them from all but the newest turns.
 */
export function* inlineThoughts(text: string): Pausable<string> {
  const thoughts: string[] = []
  for (let start = text.indexOf(thoughtStart); start !== -1;) {
    const end = text.indexOf(thoughtEnd, start)
    if (end === -1) break
    thoughts.push(text.slice(start, end + thoughtEnd.length))
    if (thoughts.length % PARTS_PER_STEP === 0) yield
    start = text.indexOf(thoughtStart, end)
  }
  return thoughts.join('')
}

/** The tokens of a message that is nothing but text, framing included: for what Foldgate writes itself. */
export function* textSteps(text: string, countSteps: CountSteps): Pausable<number> {
  return MESSAGE_FRAME_TOKENS + (yield* countSteps(text))
}

// --- internal ---

type CountSteps = TokenCounter['countSteps']

/** Names, calls, media and thoughts of one message between two pauses: less than a millisecond, where they are short. */
const PARTS_PER_STEP = 1024

const thoughtStart = '<think>'
const thoughtEnd = '</think>'

// Around a call's name and arguments. OpenAI's models: 5 to 9, whatever the id; templates of open ones: 10 to 15, and no more.
const callFrameTokens = 8

// OpenAI's models see several calls as one call of a tool that makes them all. Measured 18 to 25 more than for as many alone.
const parallelFrameTokens = 20

// Encrypted thoughts weigh what the thoughts weigh, at four bytes a token, of which base64 makes four thirds as many
// characters. Counted as text they would be three times that.
const opaqueCharactersPerToken = 16 / 3
