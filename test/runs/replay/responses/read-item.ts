import { BARE_MARK } from '../../../../src/compaction/recap/recap.ts'
import { callIdOf, partsOf, typeOf, type WireItem } from '../../../support/responses/wire-item.ts'
import { isObject, textOf } from '../../../support/strict-upstream/wire-message.ts'
import type { EntryReader } from '../lived/history.ts'

/** Reads the JSON of items; `tokensOf` is the judge's count. */
export function itemReader(tokensOf: (item: WireItem) => number): EntryReader {
  return (text) => {
    const item = parsedItem(text)
    return {
      kind: kindOf(item),
      identity: identity(item),
      isRecap: isRecap(item),
      unnamed: withoutId(text),
      tokens: tokensOf(item),
    }
  }
}

/** An item by its JSON. */
export function parsedItem(text: string): WireItem {
  const parsed: unknown = JSON.parse(text)
  return isObject(parsed) ? parsed : {}
}

// --- internal ---

/** Its reasoning may have gone, and its id with it. */
function withoutId(text: string): string {
  return text.replace(/"id":"[^"]*",/, '')
}

function kindOf(item: WireItem) {
  const { role } = item
  if (typeOf(item) === 'reasoning') return 'thought'
  if (role === 'developer' || role === 'system') return 'told'
  return role === 'user' ? 'user' : 'other'
}

function isRecap(item: WireItem): boolean {
  if (typeOf(item) !== 'message' || item['role'] !== 'user') return false
  return partsOf(item['content'], 'input_text').some((part) => {
    const text = textOf(part['text'])
    return /<conversation-(?:recap|summary)/.test(text) || text === BARE_MARK
  })
}

/** What shortening an item leaves as it is: the names of its fields but for the id, and what it belongs to. */
function identity(item: WireItem): string {
  const type = typeOf(item)
  const names = Object.keys(item).filter((name) => name !== 'id')
  const callId = type === 'message' || type === 'reasoning' ? '' : callIdOf(item)
  return JSON.stringify([type, item['role'], item['name'], callId, names])
}
