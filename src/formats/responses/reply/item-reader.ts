import { isJsonObject, type JsonObject, stringOr } from '../../../json/json-value.ts'
import type { Move, Part, AnswerParts } from '../../reply-wire.ts'
import { writtenTexts } from './events.ts'
import { isMessage, messageParts, partTexts } from './output.ts'

/** Reads the events of a response's items. `add` takes an item that begins. */
export function createItemReader(parts: AnswerParts, add: (item: JsonObject, index: unknown) => Part) {
  const done = new Set<Part>()

  /**
   * Items are told apart by their ids. Some servers give an event another one, or none, but the right place. llama.cpp gave
   * a call neither in its first months, and named it by its `call_id`.
   */
  function partOf({ item, item_id: itemId, output_index: index }: JsonObject): Part | undefined {
    const stated = isJsonObject(item) ? item : {}
    const id = stringOr(itemId ?? stated['id'], '')
    const callId = stringOr(itemId ?? stated['call_id'], '')
    const begun = parts.all.filter((part) => !done.has(part))
    return (
      begun.findLast(({ json }) => id !== '' && json['id'] === id) ??
      begun.findLast((each) => typeof index === 'number' && each.index === index) ??
      begun.findLast(({ json }) => callId !== '' && json['call_id'] === callId)
    )
  }

  function grow(part: Part, type: string, json: JsonObject): readonly Move[] {
    part.json = grownItem(part.json, type, json)
    const isAll = type === 'response.output_item.done'
    if (isAll) done.add(part)
    if (!isMessage(part.json))
      return [isAll ? { kind: 'close', part, isAll, json } : { kind: 'more', part, json }]
    // An index beyond the parts is that of the latest.
    const at = Math.min(partIndexOf(json), messageParts(part.json).length - 1)
    if (type === 'response.output_text.delta')
      return [{ kind: 'text', part, at, text: stringOr(json['delta'], ''), json }]
    // Some servers state a text only at its end.
    const missing = missingTexts(part, isAll ? null : at, json)
    return closing.has(type)
      ? [...missing, { kind: 'close', part, isAll, json }]
      : [{ kind: 'more', part, json }, ...missing]
  }

  return {
    /** Takes an event; nothing if it is about no item. */
    take: (type: string, json: JsonObject): readonly Move[] => {
      const { item, output_index: index } = json
      const isAdded = type === 'response.output_item.added'
      const known = isAdded && isJsonObject(item) ? undefined : partOf(json)
      if (known !== undefined) return grow(known, type, json)
      if (!isJsonObject(item)) return []
      const part = add(item, index)
      const begun: Move = { kind: 'begin', part, json }
      return isAdded ? [begun, ...missingTexts(part, null, json)] : [begun, ...grow(part, type, json)]
    },
  }
}

// --- internal ---

/** What ends a message, or a part of one. */
const closing: ReadonlySet<string> = new Set([
  'response.output_text.done',
  'response.refusal.done',
  'response.content_part.done',
  'response.output_item.done',
])

/** What is stated of an item's texts, or of one, and no event before has said. */
function missingTexts(part: Part, only: number | null, json: JsonObject): readonly Move[] {
  if (!isMessage(part.json)) return []
  return partTexts(part.json).flatMap((text, at): Move[] => {
    const known = part.texts[at]?.came ?? ''
    if ((only !== null && only !== at) || text.length <= known.length || !text.startsWith(known)) return []
    return [{ kind: 'text', part, at, text: text.slice(known.length), json }]
  })
}

/** Which part of its item an event is about. */
function partIndexOf(event: JsonObject): number {
  const index = event['content_index']
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : 0
}

/** An item of an output as it is after an event that writes it. What an event does not write stays. */
function grownItem(item: JsonObject, type: string, event: JsonObject): JsonObject {
  const { item: whole, part } = event
  if (type === 'response.output_item.done') return isJsonObject(whole) ? whole : item
  if (type === 'response.content_part.added' || type === 'response.content_part.done')
    return isJsonObject(part) ? withPart(item, event, () => part) : item
  const [kind, text] = writtenBy.get(type.replace(/\.\w+$/, '')) ?? []
  if (text === undefined) return item
  const grown = (before: JsonObject): JsonObject => {
    const written = type.endsWith('.delta')
      ? stringOr(before[text.key], '') + stringOr(event['delta'], '')
      : (event[text.key] ?? before[text.key])
    return { ...before, [text.key]: written }
  }
  if (!isMessage(item)) return grown(item)
  const annotated = kind === 'output_text' ? { annotations: [] } : {}
  return withPart(item, event, (before) => grown({ type: kind, ...annotated, ...before }))
}

/** What an event writes, by its type but for its last word. */
const writtenBy = new Map([...writtenTexts].map(([type, text]) => [text.event, [type, text] as const]))

function withPart(
  item: JsonObject,
  event: JsonObject,
  grown: (part: JsonObject | undefined) => JsonObject,
): JsonObject {
  const parts = [...messageParts(item)]
  // An index beyond the parts is that of a new one.
  const at = Math.min(partIndexOf(event), parts.length)
  parts[at] = grown(parts[at])
  return { ...item, content: parts }
}
