import { isJsonObject, type JsonObject } from '../json/json-value.ts'
import type { MessageFacts } from '../conversation/message.ts'

/**
 * The ids by which an entry belongs to others: that of the program that makes it, and its own where it is `open`, which is
 * not a call or result of the client's. What it has as `id` or `call_id` is its own; any other field that is named so names
 * what has that id, whatever the type is called, and a container or an agent that no entry has as its own ties nothing.
 */
export function sharedIdsOf(
  entry: JsonObject,
  isOpen: boolean,
): Pick<MessageFacts, 'sharedIds' | 'namedIds'> {
  const { caller } = entry
  const own = isOpen ? idsIn(entry) : []
  const sharedIds = own.flatMap(([key, id]) => (isOwn(key) ? [id] : []))
  const named = [...own.filter(([key]) => !isOwn(key)), ...(isJsonObject(caller) ? idsIn(caller) : [])]
  const namedIds = named.map(([, id]) => id)
  return {
    ...(sharedIds.length === 0 ? {} : { sharedIds }),
    ...(namedIds.length === 0 ? {} : { namedIds }),
  }
}

// --- internal ---

const isOwn = (key: string): boolean => key === 'id' || key === 'call_id'

function idsIn(entry: JsonObject): readonly (readonly [key: string, id: string])[] {
  return Object.entries(entry).flatMap(([key, value]) =>
    /(?:^|_)id$/.test(key) && typeof value === 'string' && value !== '' ? [[key, value] as const] : [],
  )
}
