import { blocksOf, isThinking, typeOf, type WireBlock } from '../../../support/messages/wire-block.ts'
import { callsOf, isObject, textOf } from '../../../support/strict-upstream/wire-message.ts'
import { entriesOf } from '../../replay/messages/read-block.ts'
import type { RawMessage } from '../../replay/recordings.ts'

/**
 * Reads messages of blocks as the chat that a recording was, so that the same questions can be asked of them: every result is
 * a message, and thinking is none. Blocks that came as they were sent are the recorded message, byte for byte.
 */
export type BlockChatReader = {
  /** Takes the entries that a recorded message was sent as. */
  readonly learn: (message: RawMessage, entries: readonly string[]) => void
  readonly read: (rawMessages: readonly string[]) => readonly string[]
}

export function openBlockChatReader(): BlockChatReader {
  const recorded = new Map<string, string>()
  /** What the recording calls a call, by its id here. */
  const idOf = new Map<string, string | null>()
  return {
    learn: (message, entries) => {
      const said = entries.map(parsed).filter(isSaid)
      const ids = callsOf(message.message).map(({ id }) => id)
      const asked = said.flatMap(({ block }) => (typeOf(block) === 'tool_use' ? [textOf(block['id'])] : []))
      for (const [place, toolUseId] of asked.entries()) idOf.set(toolUseId, ids[place] ?? null)
      if (said.length > 0) recorded.set(keyOf(said), message.text)
    },
    read: (rawMessages) =>
      rawMessages.flatMap((rawMessage) => {
        const said = entriesOf(rawMessage).map(parsed).filter(isSaid)
        const isReply = said[0]?.message['role'] === 'assistant'
        const groups = isReply ? [said] : said.map((each) => [each])
        return groups.map((group) => recorded.get(keyOf(group)) ?? JSON.stringify(chatMessage(group, idOf)))
      }),
  }
}

// --- internal ---

type Entry = { readonly text: string; readonly message: WireBlock; readonly block: WireBlock }

function parsed(text: string): Entry {
  const value: unknown = JSON.parse(text)
  const message = isObject(value) ? value : {}
  return { text, message, block: blocksOf(message['content'])[0] ?? {} }
}

function isSaid({ block }: Entry): boolean {
  return !isThinking(block)
}

function keyOf(said: readonly Entry[]): string {
  return said.map(({ text }) => text).join('\n')
}

function chatMessage(said: readonly Entry[], idOf: ReadonlyMap<string, string | null>): WireBlock {
  const [first] = said
  const { message = {}, block = {} } = first ?? {}
  if (typeOf(block) === 'tool_result') {
    const id = idOf.get(textOf(block['tool_use_id']))
    return { role: 'tool', ...(id != null && { tool_call_id: id }), content: contentOf(block['content']) }
  }
  if (message['role'] !== 'assistant')
    return { role: message['role'], content: contentOf(message['content']) }
  const calls = said.flatMap((each) => (typeOf(each.block) === 'tool_use' ? [callOf(each.block, idOf)] : []))
  const texts = said.flatMap((each) => (typeOf(each.block) === 'text' ? [textOf(each.block['text'])] : []))
  const content = texts.length === 0 ? null : texts.join('\n')
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
}

function callOf({ id, name, input }: WireBlock, idOf: ReadonlyMap<string, string | null>): WireBlock {
  const recordedId = idOf.get(textOf(id))
  return {
    ...(recordedId != null && { id: recordedId }),
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }
}

/** One text is a text, as clients of chat completions have it. */
function contentOf(content: unknown): unknown {
  const parts = blocksOf(content).map((part) =>
    typeOf(part) === 'image' ? { type: 'image_url', image_url: part['source'] } : part,
  )
  return parts.length === 1 && 'text' in (parts[0] ?? {}) ? parts[0]?.['text'] : parts
}
