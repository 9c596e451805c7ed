import type { LRUCache } from 'lru-cache'
import { lruCache } from '../../../src/lru-cache.ts'
import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import type { IssuedItem } from './item-rules.ts'
import type { ResponsesRejection } from './judgement.ts'
import { itemsOf, typeOf, type WireItem } from './wire-item.ts'

/** What the server remembers of the replies that it has given. */
export type ServerMemory = {
  /** Of all items that it has made, whether stored or not. */
  readonly issued: LRUCache<string, IssuedItem>
  /** The stored items by their ids. */
  readonly items: LRUCache<string, WireItem>
  /** The stored responses by their ids: what their model has seen, and what it wrote. */
  readonly responses: LRUCache<string, readonly WireItem[]>
}

export function openServerMemory(): ServerMemory {
  return {
    issued: lruCache(ITEMS_MAX),
    items: lruCache(ITEMS_MAX),
    responses: lruCache(RESPONSES_MAX),
  }
}

/** Remembers a reply, and stores it where `stored` gives what its model had seen. */
export function remember(
  memory: ServerMemory,
  reply: string,
  output: readonly WireItem[],
  stored: readonly WireItem[] | null,
): void {
  let reasoningId: string | null = null
  for (const item of output) {
    const id = textOf(item['id'])
    memory.issued.set(id, { reply, reasoningId })
    if (typeOf(item) === 'reasoning') reasoningId = id
  }
  if (stored === null) return
  const seen = [...stored, ...output]
  memory.responses.set(reply, seen)
  for (const item of seen) if (typeof item['id'] === 'string') memory.items.set(item['id'], item)
}

/** What a request refers to and is not stored; null if all is. */
export function unresolved(body: WireItem, memory: ServerMemory): ResponsesRejection | null {
  const previous = body['previous_response_id']
  if (typeof previous === 'string' && !memory.responses.has(previous)) {
    const message = `Previous response with id '${previous}' not found.`
    return notFound(400, message, 'previous_response_id', 'previous_response_not_found')
  }
  const items = itemsOf(body['input']).filter(isObject)
  const unknown = items.find((item) => isReference(item) && !memory.items.has(textOf(item['id'])))
  if (unknown === undefined) return null
  const message = `Item with id '${textOf(unknown['id'])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
  return notFound(404, message, 'input', null)
}

/** The items of a request, what it refers to in the place of references. */
export function resolved(body: WireItem, memory: ServerMemory): readonly unknown[] {
  const previous = memory.responses.get(textOf(body['previous_response_id'])) ?? []
  const items = itemsOf(body['input']).map((item) =>
    isObject(item) && isReference(item) ? memory.items.get(textOf(item['id'])) : item,
  )
  return [...previous, ...items]
}

// --- internal ---

// More than the replies of the longest replay; a long-lived server forgets the oldest.
const ITEMS_MAX = 50_000
const RESPONSES_MAX = 1000

/** Reasoning without its content can only be what the server has kept. */
function isReference(item: WireItem): boolean {
  const type = typeOf(item)
  const isBare = item['encrypted_content'] == null && item['content'] == null
  return type === 'item_reference' || (type === 'reasoning' && typeof item['id'] === 'string' && isBare)
}

function notFound(
  status: 400 | 404,
  message: string,
  param: string,
  code: string | null,
): ResponsesRejection {
  return { reason: 'not-found', status, message, param, code }
}
