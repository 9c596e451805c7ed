import type { MessageFacts, ParsedMessage } from '../conversation/message.ts'
import type { Steps } from '../conversation/source.ts'
import type { TokenCounter } from './bpe-counter.ts'
import { mediaTokens } from './media-tokens.ts'

/** What the reply is primed with, once a request. The formula is OpenAI's own: its cookbook, "how to count tokens". */
export const PRIMING_TOKENS = 3

/**
 * The tokens of one message with its framing, its calls and its media, in the counter's encoding: no ratio is applied.
 */
export function* messageTokens(
  parsed: ParsedMessage,
  facts: MessageFacts,
  counter: TokenCounter,
  model: string,
): Steps<number> {
  let tokens = frameTokens(facts, counter.count) + (yield* counter.countSteps(parsed.text))
  for (const call of parsed.calls) tokens += yield* counter.countSteps(call.argumentsText)
  for (const media of facts.media) tokens += mediaTokens(media, model)
  return tokens
}

/** What a message takes beside its text, its arguments and its media: framing, name, and the names of its calls. */
export function frameTokens(
  facts: Pick<MessageFacts, 'name' | 'callNames'>,
  count: (text: string) => number,
): number {
  let tokens = messageFrameTokens
  if (facts.name !== null) tokens += 1 + count(facts.name)
  for (const callName of facts.callNames) tokens += callFrameTokens + count(callName)
  return tokens
}

/** The tokens of a message that is nothing but text, framing included: for what Foldgate writes itself. */
export function textTokens(text: string, count: (text: string) => number): number {
  return messageFrameTokens + count(text)
}

// --- internal ---

// 3 of framing and 1 for the role, which is one token in both encodings.
const messageFrameTokens = 3 + 1

// A call's id and the punctuation around it.
const callFrameTokens = 8
