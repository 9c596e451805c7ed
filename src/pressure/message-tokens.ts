import type { MessageFacts, ParsedMessage } from '../conversation/message.ts'
import type { Steps } from '../conversation/source.ts'
import type { TokenCounter } from './bpe-counter.ts'
import { mediaTokens } from './media-tokens.ts'

/** What the reply is primed with, once a request. The formula is OpenAI's own: its cookbook, "how to count tokens". */
export const PRIMING_TOKENS = 3

/**
 * The tokens of one message with its framing, its calls, its media and the thoughts sent back with it, in the counter's
 * encoding: no ratio is applied.
 */
export function* messageTokens(
  parsed: ParsedMessage,
  facts: MessageFacts,
  counter: TokenCounter,
  model: string,
): Steps<number> {
  let tokens = frameTokens(facts, counter.count) + (yield* counter.countSteps(parsed.text))
  for (const call of parsed.calls) tokens += yield* counter.countSteps(call.argumentsText)
  tokens += (yield* counter.countSteps(parsed.uncut)) + opaqueTokens(parsed.opaqueCharacters)
  for (const media of facts.media) tokens += mediaTokens(media, model)
  return tokens
}

/** The framing of a message, its name and the names of its calls. */
export function frameTokens(
  facts: Pick<MessageFacts, 'name' | 'callNames'>,
  count: (text: string) => number,
): number {
  let tokens = messageFrameTokens
  if (facts.name !== null) tokens += 1 + count(facts.name)
  for (const callName of facts.callNames) tokens += callFrameTokens + count(callName)
  return facts.callNames.length > 1 ? tokens + parallelFrameTokens : tokens
}

/** What a message holds that counts and is never rewritten. */
export function uncutTokens(
  parsed: Pick<ParsedMessage, 'uncut' | 'opaqueCharacters'>,
  count: (text: string) => number,
): number {
  return count(parsed.uncut) + opaqueTokens(parsed.opaqueCharacters)
}

/**
 * The thoughts of an assistant message that stand in its text, as reasoning models of open weights write them: their
 * templates drop them from all but the newest turns.
 */
export function inlineThoughts(text: string): string {
  let thoughts = ''
  for (let start = text.indexOf(thoughtStart); start !== -1;) {
    const end = text.indexOf(thoughtEnd, start)
    if (end === -1) break
    thoughts += text.slice(start, end + thoughtEnd.length)
    start = text.indexOf(thoughtStart, end)
  }
  return thoughts
}

/** The tokens of a message that is nothing but text, framing included: for what Foldgate writes itself. */
export function textTokens(text: string, count: (text: string) => number): number {
  return messageFrameTokens + count(text)
}

// --- internal ---

const thoughtStart = '<think>'
const thoughtEnd = '</think>'

// 3 of framing and 1 for the role, which is one token in both encodings.
const messageFrameTokens = 3 + 1

// Around a call's name and arguments. OpenAI's models: 5 to 9, whatever the id; templates of open ones: 10 to 15, and no more.
const callFrameTokens = 8

// OpenAI's models see several calls as one call of a tool that makes them all. Measured 18 to 25 more than for as many alone.
const parallelFrameTokens = 20

// Encrypted thoughts weigh what the thoughts weigh, which is less than their base64; counted as text they would be twice that.
const opaqueCharactersPerToken = 4

function opaqueTokens(characters: number): number {
  return Math.ceil(characters / opaqueCharactersPerToken)
}
