import type { LRUCache } from 'lru-cache'
import { lruCache } from '../../../src/caches.ts'
import { isObject, textOf } from '../strict-upstream/wire-message.ts'
import type { IssuedItem } from './item-rules.ts'
import type { ResponsesRejection } from './judgement.ts'
import { itemsOf, typeOf, type WireItem, meaningOf, seenDigest } from './wire-item.ts'
import { hash } from 'node:crypto'
import { openSealedTexts } from '../strict-upstream/sealed-text.ts'

/** What the server remembers of the replies that it has given. */
export type ServerMemory = {
  /** Of all items that it has made, whether stored or not. */
  readonly issued: LRUCache<string, IssuedItem>
  /** The stored items by their ids. */
  readonly items: LRUCache<string, WireItem>
  /** The stored responses by their ids: what their model has seen, and what it wrote. */
  readonly responses: LRUCache<string, readonly WireItem[]>
}

export const openServerMemory = (): ServerMemory => ({
  issued: lruCache(ITEMS_MAX),
  items: lruCache(ITEMS_MAX),
  responses: lruCache(RESPONSES_MAX),
})

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

/** Whose encrypted content it is and what it was made on. */
export type SealedFor = { readonly owner: string; readonly model: string; readonly prefix: string }

/** Why reasoning that is genuine is left out of the prompt, as `input_transformations` says it. */
export type RemovalReason = 'organization_mismatch' | 'model_mismatch' | 'prefix_mismatch'

/** Makes encrypted content, and tells whether what comes back was made here, and for what. */
export type Seals = {
  /** Encrypted content of about so many tokens of a model's thoughts. */
  seal(what: SealedFor, tokens: number): string
  /** Null where it was not made here. */
  open(sealed: string): SealedFor | null
}

/** `key` tells one upstream from another. */
export function openSeals(key: string): Seals {
  const texts = openSealedTexts(key, FERNET)
  return {
    seal: (what, tokens) => texts.seal(what, tokens),
    open(sealed) {
      const read = texts.open(sealed)
      if (read === null) return null
      return { owner: textOf(read['owner']), model: textOf(read['model']), prefix: textOf(read['prefix']) }
    },
  }
}

/**
 * What reasoning is bound to at each place of a request: the digest of tools, format of the reply, instructions and all
 * items before it, reasoning that was left out of the prompt included. The last one is that of the reply. An item of
 * compaction stands for everything before it, so that this may be left out.
 */
export function prefixesOf(body: WireItem, items: readonly WireItem[]): readonly string[] {
  const text = isObject(body['text']) ? body['text'] : {}
  const head = seenDigest([body['tools'], text['format'], body['instructions']])
  const prefixes = [head]
  for (const item of items) prefixes.push(prefixAfter(head, prefixes.at(-1) ?? head, item))
  return prefixes
}

/** The prefix behind one more item; `head` is the one before the first. */
export const prefixAfter = (head: string, before: string, item: WireItem): string =>
  hash('sha1', `${typeOf(item) === 'compaction' ? head : before} ${meaningOf(item)}`)

/** Why the reasoning of an item is not shown to the model; null if it is, `false` if its content is none of this server's. */
export function judgeSeal(seals: Seals, item: WireItem, now: SealedFor): RemovalReason | null | false {
  const was = seals.open(textOf(item['encrypted_content']))
  if (was === null) return false
  if (was.owner !== now.owner) return 'organization_mismatch'
  if (was.model !== now.model) return 'model_mismatch'
  // What was compacted here stands for itself.
  return typeOf(item) === 'reasoning' && was.prefix !== now.prefix ? 'prefix_mismatch' : null
}

// More than the replies of the longest replay; a long-lived server forgets the oldest.
const ITEMS_MAX = 50_000
const RESPONSES_MAX = 1000

/** Reasoning without its content can only be what the server has kept. */
function isReference(item: WireItem): boolean {
  const type = typeOf(item)
  const isBare = item['encrypted_content'] == null && item['content'] == null
  return type === 'item_reference' || (type === 'reasoning' && typeof item['id'] === 'string' && isBare)
}

const notFound = (
  status: 400 | 404,
  message: string,
  param: string,
  code: string | null,
): ResponsesRejection => ({ reason: 'not-found', status, message, param, code })

/** How the real ones begin. */
const FERNET = 'gAAAAAB'
