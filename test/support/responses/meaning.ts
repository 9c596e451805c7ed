import { hash } from 'node:crypto'
import { isObject } from '../strict-upstream/wire-message.ts'
import { partsOf, textTypeOf, typeOf, type WireItem } from './wire-item.ts'

/** Codex writes down here when and why an item was made. */
export const BOOKKEEPING = 'internal_chat_message_metadata_passthrough'

/**
 * A digest of what an item tells the model: the same for every spelling of the JSON, and whatever the item's id, status
 * and bookkeeping are. Of reasoning only the encrypted content reaches the model.
 */
export function meaningOf(item: WireItem): string {
  const known = meanings.get(item) ?? hash('sha1', canonical(itemMeaning(item)))
  meanings.set(item, known)
  return known
}

/** A digest of a value, the same for every spelling and order of its members. */
export function valueDigest(value: unknown): string {
  return hash('sha1', canonical(value))
}

// --- internal ---

/** Each item of a request is asked for several times. */
const meanings = new WeakMap<WireItem, string>()

/** What a client may add or leave out of an item without the model's noticing. */
const UNSEEN = new Set(['id', 'status', 'annotations', 'logprobs', 'prompt_cache_breakpoint'])

function itemMeaning(item: WireItem): WireItem {
  const type = typeOf(item)
  if (type === 'reasoning') return { type, sealed: item['encrypted_content'], content: item['content'] }
  if (type === 'message') return { ...item, type, content: partsOf(item['content'], textTypeOf(item)) }
  const { output } = item
  return typeof output === 'string' ? { ...item, output: partsOf(output, 'input_text') } : item
}

function canonical(value: unknown): string {
  return JSON.stringify(value, seenMembers) ?? ''
}

function seenMembers(_: string, value: unknown): unknown {
  if (!isObject(value)) return value
  const names = Object.keys(value).filter((name) => isSeen(name, value[name]))
  return Object.fromEntries(names.toSorted().map((name) => [name, value[name]]))
}

function isSeen(name: string, value: unknown): boolean {
  return value !== null && value !== undefined && name !== BOOKKEEPING && !UNSEEN.has(name)
}
