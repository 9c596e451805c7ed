import { isJsonObject } from '../json/json-value.ts'

/**
 * `stale`: some were made on another prefix than the one that they stand behind; `missing`: those of the newest reply are not
 * there, or not as they were.
 */
export type ThoughtRefusal = 'stale' | 'missing'

type Wording = {
  readonly refusal: ThoughtRefusal
  /** What tells it from any other refusal, whatever a gateway has put around it. */
  readonly pattern: RegExp
  readonly sample: string
}

/**
 * How Anthropic refuses a request on account of its thoughts. Gateways hand that on in envelopes of their own.
 *
 * @internal exported for tests
 */
export const thoughtWordings: readonly Wording[] = [
  {
    refusal: 'stale',
    pattern: /block is bound to a different conversation/i,
    sample:
      'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
  },
  {
    refusal: 'missing',
    pattern: /expected `?thinking`? or `?redacted_thinking`?, but found/i,
    sample:
      'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
  },
  {
    refusal: 'missing',
    pattern:
      /`?thinking`? or `?redacted_thinking`? blocks in the latest assistant message cannot be modified/i,
    sample:
      'messages.3.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
  },
  {
    // DeepSeek's and Kimi's imitations, of every reply that has a call.
    refusal: 'missing',
    pattern:
      /\b(?:thinking|reasoning(?:_content)?)\b.{0,60}\bmust be passed back\b|\breasoning_content\b.{0,60}\b(?:is|are) (?:missing|required)\b|\b(?:messages?|repl(?:y|ies)|turns?|blocks?)\b.{0,60}\b(?:thinking|reasoning)\b.{0,40}\b(?:is|are) (?:missing|required)\b|\b(?:thinking|reasoning)\b.{0,40}\b(?:is|are) (?:missing|required) (?:in|from|for|of) (?:\w+ ){0,4}(?:messages?|repl(?:y|ies)|turns?)\b/i,
    sample: 'The `content[].thinking` in the thinking mode must be passed back to the API.',
  },
]

/** What a refusal, as text or JSON, has against the thoughts of its request; null if it is about something else. */
export function thoughtRefusalIn(text: string): ThoughtRefusal | null {
  return thoughtWordings.find(({ pattern }) => pattern.test(text))?.refusal ?? null
}

/** Whether a request says, by its `thinking`, that it is to be refused if thoughts in it do not hold. */
export function wantsStaleRefused(thinking: unknown): boolean {
  const binding = isJsonObject(thinking) ? thinking['block_binding'] : null
  return isJsonObject(binding) && binding['prefix_mismatch_behavior'] === 'error'
}
