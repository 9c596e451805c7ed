import { isJsonObject, stringOr, type JsonObject } from '../../json/json-value.ts'
import type { ItemKind } from './item-kinds.ts'

/** The content of a message, or the output of a call as content: a text or parts. */
export function saidIn(kind: ItemKind, item: JsonObject): unknown {
  if (kind === 'message') return item['content']
  const { output } = item
  if (isShellOutput(output)) return output.flatMap(shellTexts).join('\n')
  // An answer to a request for approval says in words why, if it says anything.
  return output ?? item['reason']
}

/** Pictures that stand in an item where no text may stand: a screenshot, or what the server has made or its code has drawn. */
export function picturesBeside(item: JsonObject): readonly JsonObject[] {
  const { type, output, result } = item
  if (type === 'computer_call_output' && isJsonObject(output)) return [{ ...output, type: 'input_image' }]
  if (type === 'image_generation_call' && typeof result === 'string' && result !== '')
    return [{ type: 'image', source: { media_type: 'image/png', data: result } }]
  return drawnBy(item)
    .filter(isPicture)
    .map((picture) => ({ ...picture, type: 'input_image' }))
}

/** The same item without those pictures: what is left of it is text. */
export function withoutPictures(item: JsonObject): JsonObject {
  if (item['type'] === 'image_generation_call') return { ...item, result: null }
  const drawn = drawnBy(item)
  return drawn.some(isPicture) ? { ...item, outputs: drawn.filter((each) => !isPicture(each)) } : item
}

/** Where the server's own work says what came of it: a text, and lists of parts with a text each. */
export const foundKeys = { text: 'output', lists: ['outputs', 'results'], parts: ['logs', 'text'] } as const

/** What the server's own work came out as: what was printed, answered and found. */
export function foundBy(item: JsonObject): readonly string[] {
  const { lists, parts, text } = foundKeys
  const listed = lists.flatMap((key) => listOf(item[key])).filter(isJsonObject)
  const found = [item[text], ...listed.flatMap((each) => parts.map((key) => each[key]))]
  return found.filter((each) => typeof each === 'string')
}

/** Whether an output is what a shell printed: commands with `stdout`, `stderr` and how each ended. */
export function isShellOutput(output: unknown): output is readonly JsonObject[] {
  return (
    Array.isArray(output) &&
    output.length > 0 &&
    output.every((part: unknown) => isJsonObject(part) && typeof part['stdout'] === 'string')
  )
}

// --- internal ---

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** What code has printed and drawn. */
function drawnBy({ type, outputs }: JsonObject): readonly JsonObject[] {
  return type === 'code_interpreter_call' && Array.isArray(outputs) ? outputs.filter(isJsonObject) : []
}

function isPicture({ type, url }: JsonObject): boolean {
  return type === 'image' && typeof url === 'string' && url.startsWith('data:')
}

function shellTexts({ stdout, stderr }: JsonObject): readonly string[] {
  return [stringOr(stdout, ''), stringOr(stderr, '')].filter((text) => text !== '')
}
