import { BARE_MARK } from '../../../../src/compaction/recap/recap.ts'
import type { BlockCounter } from '../../../support/messages/block-tokens.ts'
import type { LivedMessage } from '../../../support/messages/living.ts'
import { blocksOf, isThinking, typeOf, type WireBlock } from '../../../support/messages/wire-block.ts'
import { rawElements, rawMembers } from '../../../support/strict-upstream/raw-request.ts'
import { isObject, textOf } from '../../../support/strict-upstream/wire-message.ts'
import type { EntryReader, LivedEntry } from '../lived/history.ts'

/** The mark that clients set and move on. */
export const MARK = '"cache_control":{"type":"ephemeral"}'

/**
 * The entries of a message, without marks: each block of the model's messages and of those that hold results, in the message
 * around it; any other message as a whole.
 */
export function entriesOf(rawMessage: string): readonly string[] {
  const text = rawMessage.replaceAll(`,${MARK}`, '')
  const members = rawMembers(text)
  const content = members.get('content') ?? ''
  const blocks = rawElements(content)
  const isOfBlocks =
    members.get('role') === '"assistant"' || blocks.some((block) => block.includes('"tool_result"'))
  if (!isOfBlocks) return [text]
  const start = text.indexOf(content)
  return blocks.map((block) => `${text.slice(0, start)}[${block}]${text.slice(start + content.length)}`)
}

/** The entries of a client's messages. */
export function livedEntries(messages: readonly LivedMessage[]): readonly LivedEntry[] {
  return messages.flatMap(({ role, blocks, reply }) =>
    entriesOf(`{"role":"${role}","content":[${blocks.join(',')}]}`).map((text) => ({ text, reply })),
  )
}

/** Reads entries; `counter` is the judge's. */
export function blockReader(counter: BlockCounter): EntryReader {
  return (text) => {
    const parsed: unknown = JSON.parse(text)
    const message: WireBlock = isObject(parsed) ? parsed : {}
    const { role } = message
    const blocks = blocksOf(message['content'])
    const [block = {}] = blocks
    const isWhole = role !== 'assistant' && typeOf(block) !== 'tool_result'
    return {
      kind: kindOf(role, block),
      identity: isWhole ? JSON.stringify([role, Object.keys(message)]) : blockIdentity(role, block),
      isRecap: role === 'user' && blocks.some(isRecap),
      unnamed: text,
      tokens: isWhole ? counter.message(blocks) : counter.block(block),
    }
  }
}

/** What names a block of thinking. */
export function thoughtNames(blocks: readonly WireBlock[]): readonly string[] {
  return blocks.filter(isThinking).map((block) => textOf(block['signature'] ?? block['data']))
}

// --- internal ---

function kindOf(role: unknown, block: WireBlock) {
  if (role === 'system') return 'told'
  if (role === 'assistant') return isThinking(block) ? 'thought' : 'other'
  return typeOf(block) === 'tool_result' ? 'other' : 'user'
}

function isRecap(block: WireBlock): boolean {
  const text = textOf(block['text'])
  return /<conversation-(?:recap|summary)/.test(text) || text === BARE_MARK
}

function blockIdentity(role: unknown, block: WireBlock): string {
  const { id, name, tool_use_id: answered } = block
  return JSON.stringify([role, typeOf(block), id, name, answered, Object.keys(block)])
}
