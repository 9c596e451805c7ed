import { isJsonObject, type JsonObject, stringifyJson, stringOr } from '../../../json/json-value.ts'
import type { CallRules } from '../../answer-contract.ts'
import { parseAnswerText } from '../../answer-json.ts'
import { createTextPieces, type TextPieces } from '../../text-pieces.ts'
import { createBlockGate } from './reply.ts'

/** A block of the answer that flows. */
export type StreamBlock = {
  /** As it began. */
  readonly begun: JsonObject
  /** Its place in the answer's content, as the server states it. */
  readonly index: unknown
  readonly isShown: boolean
  /** What its deltas add up to: its text, its thought, or its arguments as JSON. */
  readonly text: TextPieces
  /** What the client got of a text that a seam joined to what was said before. */
  readonly joinedText: TextPieces
  readonly citations: unknown[]
  /** Other fields, as deltas stated them last. */
  stated: JsonObject
  isStopped: boolean
  /** Its place as the client sees it; null while that has seen nothing of it. */
  shownIndex: number | null
}

/** The blocks of the answer that flows, as its events tell of them. */
export type AnswerBlocks = ReturnType<typeof createAnswerBlocks>

export function createAnswerBlocks(rules: CallRules, isFurther: boolean) {
  const gate = createBlockGate(rules, isFurther)
  const blocks: StreamBlock[] = []
  /** The latest at each place. */
  const placed = new Map<unknown, StreamBlock>()

  function begin(begun: JsonObject, index: unknown): StreamBlock {
    const block: StreamBlock = {
      begun,
      index,
      isShown: gate.take(begun),
      text: createTextPieces(),
      joinedText: createTextPieces(),
      citations: [],
      stated: {},
      isStopped: false,
      shownIndex: null,
    }
    blocks.push(block)
    placed.set(index, block)
    return block
  }

  return {
    /** Takes an event of a block; the block, null if it is of none that has begun. */
    take: (type: string, { index, content_block: begun, delta }: JsonObject) => {
      if (type === 'content_block_start') return begin(isJsonObject(begun) ? begun : {}, index)
      const block = placed.get(index) ?? null
      if (block === null) return null
      if (type === 'content_block_stop') block.isStopped = true
      if (isJsonObject(delta)) grow(block, delta)
      return block
    },
    all: () => blocks,
    counts: gate.counts,
    /** Whether there are more blocks than any model writes. */
    areTooMany: () => blocks.length > BLOCKS_MAX,
  }
}

/** A block as its events add up. */
export function wholeBlock({ begun, stated, citations, text: pieces }: StreamBlock): JsonObject {
  const text = pieces.joined()
  const grown = { ...begun, ...stated }
  switch (begun['type']) {
    case 'text':
      return {
        ...grown,
        text: stringOr(begun['text'], '') + text,
        ...(citations.length > 0 ? { citations: [...citedAtFirst(begun), ...citations] } : {}),
      }
    case 'thinking':
      return { ...grown, thinking: stringOr(begun['thinking'], '') + text }
    default:
      return text === '' ? grown : { ...grown, input: parsedInput(text) }
  }
}

/** The arguments of a call as they were written. */
export function writtenArguments({ begun, text: pieces }: StreamBlock): string {
  const text = pieces.joined()
  return text === '' ? (stringifyJson(begun['input'] ?? {}) ?? '{}') : text
}

// --- internal ---

/** No model writes more in one answer. */
const BLOCKS_MAX = 1_024

const INPUT_CHARACTERS_MAX = 1 << 20

function grow(block: StreamBlock, delta: JsonObject): void {
  const { type, text, thinking, partial_json: json, citation, signature, content, encrypted_content } = delta
  block.text.add(stringOr(text, '') + stringOr(thinking, '') + stringOr(json, ''))
  if (citation !== undefined) block.citations.push(citation)
  if (type === 'signature_delta') block.stated = { signature }
  if (type === 'compaction_delta')
    block.stated = 'encrypted_content' in delta ? { content, encrypted_content } : { content }
}

function citedAtFirst({ citations }: JsonObject): readonly unknown[] {
  return Array.isArray(citations) ? citations : []
}

/** Arguments that were cut are none, nor are some that no model writes. */
function parsedInput(text: string): JsonObject {
  const input = text.length > INPUT_CHARACTERS_MAX ? undefined : parseAnswerText(text)
  return isJsonObject(input) ? input : {}
}
