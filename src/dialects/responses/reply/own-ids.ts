import { stringOr, type JsonObject } from '../../../conversation/json-value.ts'

/**
 * Ids for items that a client shall send back without the thoughts that led to them: an item under the id that the server
 * gave demands these. They are made of the response's id and a number, so that no two items of a conversation share one, and
 * begin as servers demand it, `msg_` for a message.
 */
export function createOwnIds(): (response: JsonObject, item: JsonObject) => string {
  let made = 0
  return (response, item) => {
    const id = stringOr(item['id'], '')
    const kind = /^[a-z]+(?=_)/.exec(id)?.[0] ?? (item['type'] === 'message' ? 'msg' : 'fc')
    const origin = stringOr(response['id'], '')
      .replace(/^resp_/, '')
      .replaceAll(/[^\w-]/g, '')
      .slice(-ORIGIN_CHARACTERS)
    made += 1
    return `${kind}_${origin}_${made}`
  }
}

// --- internal ---

/** OpenAI takes ids of at most 64 characters. Gateways write much into a response's id, and what tells it apart to its end. */
const ORIGIN_CHARACTERS = 40
