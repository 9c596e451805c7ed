import {
  CALL_TOKENS,
  countingOnce,
  countTexts,
  MEDIA_TOKENS,
  MESSAGE_TOKENS,
  openPromptCounter,
} from '../strict-upstream/prompt-tokens.ts'
import { sealedTokens } from '../strict-upstream/sealed-text.ts'
import { textOf, valueDigest } from '../strict-upstream/wire-message.ts'
import { meaningOf, blocksOf, typeOf, type WireBlock } from './wire-block.ts'

/** Counts prompts as the strict Messages upstream does. Each block is counted once and known by its meaning thereafter. */
export type BlockCounter = {
  block(block: WireBlock): number
  /** The blocks of a message and what stands around them. */
  message(blocks: readonly WireBlock[]): number
  /** Nought where there are no tools. */
  tools(tools: unknown): number
}

export function openBlockCounter(count: (text: string) => number): BlockCounter {
  const once = countingOnce()
  const counter = openPromptCounter(count)
  const block = (one: WireBlock): number => once(meaningOf(one), () => countBlock(count, one))
  return {
    block,
    message: (blocks) => blocks.reduce((sum, one) => sum + block(one), frameTokens(blocks)),
    // A tool is described here as it is for chat completions, under other names.
    tools: (tools) =>
      counter.tools(
        valueDigest(tools),
        blocksOf(tools).map(({ name, description, input_schema: parameters }) => ({
          function: { name, description, parameters },
        })),
      ),
  }
}

/** Members that tell the model nothing, or that are counted apart. */
const UNCOUNTED = new Set(['type', 'id', 'tool_use_id', 'is_error', 'cache_control', 'caller', 'signature'])
const MEDIA = new Set(['image', 'document'])

/** Each result stands in a frame of its own, as in a chat. */
const frameTokens = (blocks: readonly WireBlock[]): number =>
  blocks.every((block) => typeOf(block) === 'tool_result') ? 0 : MESSAGE_TOKENS

function countBlock(count: (text: string) => number, block: WireBlock): number {
  const type = typeOf(block)
  if (MEDIA.has(type)) return MEDIA_TOKENS
  if (type === 'redacted_thinking') return sealedTokens(textOf(block['data']))
  if (type === 'thinking' && textOf(block['thinking']) === '') return sealedTokens(textOf(block['signature']))
  if (type === 'tool_use')
    return CALL_TOKENS + count(textOf(block['name'])) + count(JSON.stringify(block['input']))
  if (type === 'tool_result')
    return blocksOf(block['content']).reduce((sum, part) => sum + countBlock(count, part), MESSAGE_TOKENS)
  return countTexts(count, block, (name) => (UNCOUNTED.has(name) ? 0 : null))
}
