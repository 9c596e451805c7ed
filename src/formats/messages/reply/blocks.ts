import { type JsonObject, stringOr } from '../../../json/json-value.ts'

export function isTextBlock(block: JsonObject): boolean {
  return block['type'] === 'text'
}

/** Whether a block is a call that the client answers. What the server's own tools did has types of its own. */
export function isToolUse(block: JsonObject): boolean {
  return block['type'] === 'tool_use'
}

/** Whether a block is such as a server may bind to all that stood before it. */
export function isThought({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking' || type === 'connector_text'
}

/** What the texts among some blocks say. Neighbours are one text, cut where what is cited begins and ends. */
export function contentText(blocks: readonly JsonObject[]): string {
  let text = ''
  let before: JsonObject | undefined
  for (const block of blocks) {
    if (isTextBlock(block)) {
      const words = stringOr(block['text'], '')
      const isApart = before !== undefined && !isTextBlock(before) && text !== '' && words !== ''
      text += (isApart ? '\n\n' : '') + words
    }
    before = block
  }
  return text
}

/** A text that was cut, and goes on in another. */
export function joinedBlocks(before: JsonObject, next: JsonObject): JsonObject {
  const citations: unknown[] = [before['citations'], next['citations']].filter(Array.isArray).flat()
  return {
    ...before,
    text: stringOr(before['text'], '') + stringOr(next['text'], ''),
    ...(citations.length > 0 ? { citations } : {}),
  }
}
