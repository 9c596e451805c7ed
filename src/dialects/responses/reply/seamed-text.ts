import { stringOr, type JsonObject } from '../../../conversation/json-value.ts'
import type { Seam } from '../../answer-contract.ts'
import { partIndexOf } from './growing-item.ts'
import type { NewEvent } from './item-events.ts'
import { isMessage } from './output.ts'
import { isClosing, partTexts, type StreamItem } from './stream-item.ts'

/** An event of a further answer with its text as the seam joins it; what the seam still held goes before the end of a part. */
export function joinedEvents(item: StreamItem, event: NewEvent, seam: Seam): readonly NewEvent[] {
  if (!isMessage(item.json)) return [event]
  const partIndex = partIndexOf(event)
  if (event.type === 'response.output_text.delta') {
    const delta = fed(item, partIndex, stringOr(event['delta'], ''), seam)
    return delta === '' ? [] : [{ ...event, delta }]
  }
  if (!isClosing(event.type)) return [event]
  const isWhole = event.type === 'response.output_item.done'
  const late = partTexts(item.json).flatMap((text, at) =>
    isWhole || at === partIndex ? lateDelta(item, at, text, seam) : [],
  )
  return [...late, event]
}

/** What the seam still held of a message that was not brought to its end. */
export function lateEvents(item: StreamItem, seam: Seam): readonly NewEvent[] {
  if (!isMessage(item.json)) return []
  const at = partTexts(item.json).length - 1
  return at < 0 ? [] : lateDelta(item, at, item.fedTexts[at] ?? '', seam)
}

// --- internal ---

function fed({ fedTexts, joinedTexts }: StreamItem, at: number, text: string, seam: Seam): string {
  const joined = seam.feed(text)
  fedTexts[at] = (fedTexts[at] ?? '') + text
  joinedTexts[at] = (joinedTexts[at] ?? '') + joined
  return joined
}

/** What is missing of a part's text: some servers state it only at its end. */
function lateDelta(item: StreamItem, at: number, text: string, seam: Seam): readonly NewEvent[] {
  const known = item.fedTexts[at] ?? ''
  const missing = text.startsWith(known) ? fed(item, at, text.slice(known.length), seam) : ''
  const held = text === '' ? '' : seam.end()
  item.joinedTexts[at] = (item.joinedTexts[at] ?? '') + held
  const delta = missing + held
  if (delta === '') return []
  const place: JsonObject = { item_id: item.json['id'], output_index: item.index, content_index: at }
  return [{ type: 'response.output_text.delta', ...place, delta, logprobs: [] }]
}
