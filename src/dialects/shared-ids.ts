import { isJsonObject, type JsonObject } from '../conversation/json-value.ts'
import type { MessageFacts } from '../conversation/message.ts'

/**
 * The ids by which an entry belongs to others: that of the program that makes it, and its own where it is `open`, which is
 * not a call or result of the client's. Any field that is named so holds one, whatever the type is called.
 */
export function sharedIdsOf(entry: JsonObject, isOpen: boolean): Pick<MessageFacts, 'sharedIds'> {
  const { caller } = entry
  const sharedIds = [...(isOpen ? idsIn(entry) : []), ...(isJsonObject(caller) ? idsIn(caller) : [])]
  return sharedIds.length === 0 ? {} : { sharedIds }
}

// --- internal ---

function idsIn(entry: JsonObject): readonly string[] {
  return Object.entries(entry).flatMap(([key, value]) =>
    /(?:^|_)id$/.test(key) && typeof value === 'string' && value !== '' ? [value] : [],
  )
}
