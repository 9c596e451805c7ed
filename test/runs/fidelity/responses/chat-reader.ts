import { partsOf, textTypeOf, typeOf, type WireItem } from '../../../support/responses/wire-item.ts'
import { isObject, textOf } from '../../../support/strict-upstream/wire-message.ts'
import type { RawMessage } from '../../replay/recordings.ts'

/**
 * Reads items as the chat that a recording was, so that the same questions can be asked of them: the items of one reply are
 * one message, and reasoning is none. Items that came as they were sent are the recorded message, byte for byte.
 */
export type ChatReader = {
  /** Takes the items that a recorded message was sent as. */
  readonly learn: (message: RawMessage, items: readonly string[]) => void
  readonly read: (items: readonly string[]) => readonly string[]
}

export function openChatReader(): ChatReader {
  const recorded = new Map<string, string>()
  return {
    learn: (message, items) => {
      const said = items.map(parsed).filter(isSaid)
      if (said.length > 0) recorded.set(keyOf(said), message.text)
    },
    read: (items) =>
      repliesOf(items.map(parsed)).map(
        (said) => recorded.get(keyOf(said)) ?? JSON.stringify(messageOf(said)),
      ),
  }
}

// --- internal ---

type Item = { readonly text: string; readonly item: WireItem }

function parsed(text: string): Item {
  const item: unknown = JSON.parse(text)
  return { text, item: isObject(item) ? item : {} }
}

function isSaid({ item }: Item): boolean {
  return typeOf(item) !== 'reasoning'
}

/** An id may have gone with the reasoning that it belongs to. */
function keyOf(said: readonly Item[]): string {
  return said.map(({ text }) => text.replace(/"id":"[^"]*",/, '')).join('\n')
}

/** A reply is at most one message and the calls behind it; anything else is one item. */
function repliesOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const replies: Item[][] = []
  let open: Item[] | null = null
  for (const each of items) {
    if (!isSaid(each)) {
      open = null
      continue
    }
    if (open !== null && isCall(each.item)) {
      open.push(each)
      continue
    }
    const begun = [each]
    replies.push(begun)
    open = isCall(each.item) || each.item['role'] === 'assistant' ? begun : null
  }
  return replies
}

function isCall(item: WireItem): boolean {
  return typeOf(item) === 'function_call'
}

function messageOf(said: readonly Item[]): WireItem {
  const [first = {}] = said.map(({ item }) => item)
  if (typeOf(first) === 'function_call_output')
    return { role: 'tool', tool_call_id: first['call_id'], content: contentOf(first['output']) }
  const calls = said.flatMap(({ item }) => (isCall(item) ? [callOf(item)] : []))
  const content = typeOf(first) === 'message' ? contentOf(first['content'], textTypeOf(first)) : null
  const role = calls.length > 0 ? 'assistant' : roleOf(first)
  return { role, content, ...(calls.length > 0 && { tool_calls: calls }) }
}

function roleOf(item: WireItem): string {
  // What recordings have as system messages was sent as developer messages.
  return item['role'] === 'developer' ? 'system' : textOf(item['role'] ?? item['type'])
}

/** One text is a text, as clients of chat completions have it. */
function contentOf(content: unknown, type: 'input_text' | 'output_text' = 'input_text'): unknown {
  const parts = partsOf(content, type).map((part) =>
    typeof part['text'] === 'string' ? { type: 'text', text: part['text'] } : part,
  )
  return parts.length === 1 && 'text' in (parts[0] ?? {}) ? parts[0]?.['text'] : parts
}

function callOf(item: WireItem): WireItem {
  return {
    id: item['call_id'],
    type: 'function',
    function: { name: item['name'], arguments: item['arguments'] },
  }
}
