import { blocksOf, isThinking, typeOf as blockType } from '../../support/messages/wire-block.ts'
import { partsOf, textTypeOf, typeOf, type WireItem } from '../../support/responses/wire-item.ts'
import { callsOf, textOf } from '../../support/strict-upstream/wire-message.ts'
import { entriesOf } from '../harness/messages.ts'
import type { RawMessage } from '../harness/recordings.ts'
import { parsedItem, withoutId } from '../harness/responses.ts'

/**
 * Reads what an upstream of another API received as the chat that a recording was, so that the same questions can be asked
 * of it. Thoughts are no message, and what came as it was sent is the recorded message, byte for byte.
 */
export type ChatReader = {
  /** Takes the entries that a recorded message was sent as. */
  readonly learn: (message: RawMessage, entries: readonly string[]) => void
  /** Reads what stands in the list of a body. */
  readonly read: (rawParts: readonly string[]) => readonly string[]
}

/** In the Responses API the items of one reply are one message. */
export function openItemChatReader(): ChatReader {
  const recorded = new Map<string, string>()
  return {
    learn: (message, items) => {
      const said = items.map(itemOf).filter(isSaid)
      if (said.length > 0) recorded.set(itemsKey(said), message.text)
    },
    read: (items) =>
      repliesOf(items.map(itemOf)).map(
        (said) => recorded.get(itemsKey(said)) ?? JSON.stringify(messageOf(said)),
      ),
  }
}

/** In the Messages API the blocks of one reply are one message, and every result is one of its own. */
export function openBlockChatReader(): ChatReader {
  const recorded = new Map<string, string>()
  /** What the recording calls a call, by its id here. */
  const idOf = new Map<string, string | null>()
  return {
    learn: (message, entries) => {
      const said = saidBlocks(entries)
      const ids = callsOf(message.message).map(({ id }) => id)
      const asked = said.flatMap(({ block }) =>
        blockType(block) === 'tool_use' ? [textOf(block['id'])] : [],
      )
      for (const [place, toolUseId] of asked.entries()) idOf.set(toolUseId, ids[place] ?? null)
      if (said.length > 0) recorded.set(blocksKey(said), message.text)
    },
    read: (rawMessages) =>
      rawMessages.flatMap((rawMessage) => {
        const said = saidBlocks(entriesOf(rawMessage))
        const isReply = said[0]?.message['role'] === 'assistant'
        const groups = isReply ? [said] : said.map((each) => [each])
        return groups.map(
          (group) => recorded.get(blocksKey(group)) ?? JSON.stringify(chatMessage(group, idOf)),
        )
      }),
  }
}

type Item = { readonly text: string; readonly item: WireItem }

const itemOf = (text: string): Item => ({ text, item: parsedItem(text) })

const isSaid = ({ item }: Item): boolean => typeOf(item) !== 'reasoning'

/** An id may have gone with the reasoning that it belongs to. */
const itemsKey = (said: readonly Item[]): string => said.map(({ text }) => withoutId(text)).join('\n')

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

const isCall = (item: WireItem): boolean => typeOf(item) === 'function_call'

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
  return onlyText(parts)
}

const onlyText = (parts: readonly WireItem[]): unknown =>
  parts.length === 1 && 'text' in (parts[0] ?? {}) ? parts[0]?.['text'] : parts

function callOf(item: WireItem): WireItem {
  return {
    id: item['call_id'],
    type: 'function',
    function: { name: item['name'], arguments: item['arguments'] },
  }
}

type Entry = { readonly text: string; readonly message: WireItem; readonly block: WireItem }

const saidBlocks = (entries: readonly string[]): readonly Entry[] =>
  entries.flatMap((text) => {
    const message = parsedItem(text)
    const [block = {}] = blocksOf(message['content'])
    return isThinking(block) ? [] : [{ text, message, block }]
  })

const blocksKey = (said: readonly Entry[]): string => said.map(({ text }) => text).join('\n')

function chatMessage(said: readonly Entry[], idOf: ReadonlyMap<string, string | null>): WireItem {
  const [first] = said
  const { message = {}, block = {} } = first ?? {}
  if (blockType(block) === 'tool_result') {
    const id = idOf.get(textOf(block['tool_use_id']))
    return { role: 'tool', ...(id != null && { tool_call_id: id }), content: blockContent(block['content']) }
  }
  if (message['role'] !== 'assistant')
    return { role: message['role'], content: blockContent(message['content']) }
  const calls = said.flatMap((each) =>
    blockType(each.block) === 'tool_use' ? [toolUse(each.block, idOf)] : [],
  )
  const texts = said.flatMap((each) => (blockType(each.block) === 'text' ? [textOf(each.block['text'])] : []))
  const content = texts.length === 0 ? null : texts.join('\n')
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
}

function toolUse({ id, name, input }: WireItem, idOf: ReadonlyMap<string, string | null>): WireItem {
  const recordedId = idOf.get(textOf(id))
  return {
    ...(recordedId != null && { id: recordedId }),
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }
}

function blockContent(content: unknown): unknown {
  const parts = blocksOf(content).map((part) =>
    blockType(part) === 'image' ? { type: 'image_url', image_url: part['source'] } : part,
  )
  return onlyText(parts)
}
