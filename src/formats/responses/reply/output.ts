import { isJsonObject, stringOr, type JsonObject } from '../../../json/json-value.ts'

/** The items of a response's output; none if there is no list of them. */
export function outputOf(response: JsonObject): readonly JsonObject[] {
  const { output } = response
  return Array.isArray(output) ? output.filter(isJsonObject) : []
}

/** The parts of a message's content; a text alone is one. */
export function messageParts(item: JsonObject): readonly JsonObject[] {
  const { content } = item
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'output_text', text: content }]
  return Array.isArray(content) ? content.filter(isJsonObject) : []
}

export function isMessage(item: JsonObject): boolean {
  return item['type'] === 'message'
}

/** Whether a part of a message is text; a refusal is none. */
export function isTextPart(part: JsonObject): boolean {
  return part['type'] === 'output_text'
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

/**
 * The content of a message that was cut and goes on in another: the text goes on in the last part. What annotates it is
 * joined as it came.
 */
export function joinedParts(
  before: readonly JsonObject[],
  next: readonly JsonObject[],
): readonly JsonObject[] {
  const [last, first] = [before.at(-1), next[0]]
  if (last === undefined || first === undefined || !isTextPart(last) || !isTextPart(first))
    return [...before, ...next]
  const text = stringOr(last['text'], '') + stringOr(first['text'], '')
  const lists = Object.fromEntries(
    ['annotations', 'logprobs'].flatMap((key) => {
      const [some, others]: unknown[] = [last[key], first[key]]
      if (!Array.isArray(some) || !Array.isArray(others)) return []
      return [[key, [...(some as unknown[]), ...(others as unknown[])]]]
    }),
  )
  return [...before.slice(0, -1), { ...last, ...first, text, ...lists }, ...next.slice(1)]
}
