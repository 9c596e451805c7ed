import { type JsonObject, objectsOf, stringOr } from '../../../json/json-value.ts'
import type { SeenPart } from '../../reply-wire.ts'

/** The parts of a message's content; a text alone is one. */
export function messageParts(item: JsonObject): readonly JsonObject[] {
  const { content } = item
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'output_text', text: content }]
  return objectsOf(content)
}

export function isMessage(item: JsonObject): boolean {
  return item['type'] === 'message'
}

/** What the messages among some items say, by default each in paragraphs of its own; refusals are no text. */
export function outputText(items: readonly JsonObject[], between = '\n\n'): string {
  return items
    .filter(isMessage)
    .map((item) =>
      messageParts(item)
        .filter(isTextPart)
        .map((part) => stringOr(part['text'], ''))
        .join(''),
    )
    .filter((text) => text !== '')
    .join(between)
}

/** The texts of a message's parts, '' for one that is no text. */
export function partTexts(item: JsonObject): readonly string[] {
  return messageParts(item).map((part) => (isTextPart(part) ? stringOr(part['text'], '') : ''))
}

/** A message with other texts in its parts. */
export function withTexts(item: JsonObject, texts: readonly string[]): JsonObject {
  const parts = messageParts(item).map((part, at) =>
    isTextPart(part) && texts[at] !== undefined ? { ...part, text: texts[at] } : part,
  )
  return { ...item, content: parts }
}

/** A message that was cut, and goes on in another. What annotates its text is joined as it came. */
export function joinedMessage(before: JsonObject, next: JsonObject): JsonObject {
  const [some, others] = [messageParts(before), messageParts(next)]
  const [last, first] = [some.at(-1), others[0]]
  if (!goesOnIn(last, first)) return { ...before, ...next, content: [...some, ...others] }
  const text = stringOr(last?.['text'], '') + stringOr(first?.['text'], '')
  const lists = Object.fromEntries(
    ['annotations', 'logprobs'].flatMap((key) => {
      const [ones, more]: unknown[] = [last?.[key], first?.[key]]
      return Array.isArray(ones) && Array.isArray(more)
        ? [[key, [...(ones as unknown[]), ...(more as unknown[])]]]
        : []
    }),
  )
  return {
    ...before,
    ...next,
    content: [...some.slice(0, -1), { ...last, ...first, text, ...lists }, ...others.slice(1)],
  }
}

/** Where the client sees a part of this answer among all of its message's. */
export function shownPartIndex({ before, part }: SeenPart, at: number): number {
  const known = messageParts(before ?? {})
  return known.length + at - (goesOnIn(known.at(-1), messageParts(part?.json ?? {})[0]) ? 1 : 0)
}

// --- internal ---

function isTextPart(part: JsonObject): boolean {
  return part['type'] === 'output_text'
}

/** Whether the last part of a message that was cut is one with the first of the next. */
function goesOnIn(last: JsonObject | undefined, first: JsonObject | undefined): boolean {
  return last !== undefined && first !== undefined && isTextPart(last) && isTextPart(first)
}
