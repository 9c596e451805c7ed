import { hash } from 'node:crypto'

/**
 * A message as the strict upstream sees it: a JSON object of which nothing is trusted. It is read here anew,
 * and not with the readers of `conversation/`, because this side judges what those produce.
 */
export type WireMessage = {
  readonly role?: unknown
  readonly content?: unknown
  readonly name?: unknown
  readonly tool_calls?: unknown
  readonly function_call?: unknown
  readonly tool_call_id?: unknown
  /** In Ollama's own chat: the pictures, and the tool whose result it is. */
  readonly images?: unknown
  readonly tool_name?: unknown
}

export type WireCall = { readonly id: string | null; readonly name: string; readonly argumentsText: string }

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A body, or another text of JSON; null where it is no object. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** A digest of a value, the same for every spelling and order of its members. Those that are not seen are left out. */
export function valueDigest(value: unknown, isSeen: (name: string) => boolean = () => true): string {
  const inOrder = (_: string, each: unknown): unknown => {
    if (!isObject(each)) return each
    const names = Object.keys(each).filter(
      (name) => each[name] !== null && each[name] !== undefined && isSeen(name),
    )
    return Object.fromEntries(names.toSorted().map((name) => [name, each[name]]))
  }
  return hash('sha1', JSON.stringify(value, inOrder) ?? '')
}

/** The calls that a message makes, in order; the legacy `function_call` is one call without an id. */
export function callsOf(message: WireMessage): readonly WireCall[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(readCall) : []
  return isObject(message.function_call) ? [...calls, readFunction(null, message.function_call)] : calls
}

/** The texts of `content`, one for a string, one a part for parts. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown) => {
    if (!isObject(part)) return []
    const text = part['text'] ?? part['refusal']
    return typeof text === 'string' ? [text] : []
  })
}

/** How many parts of `content` are images, sounds or files. */
export function mediaCount(content: unknown): number {
  if (!Array.isArray(content)) return 0
  return content.filter(
    (part: unknown) => isObject(part) && part['type'] !== 'text' && part['type'] !== 'refusal',
  ).length
}

/** How many images, sounds or files a message holds, in its content or, as Ollama has it, beside it. */
export const mediaIn = ({ content, images }: WireMessage): number =>
  mediaCount(content) + (Array.isArray(images) ? images.length : 0)

/** A text field, '' where it is missing or no text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function readCall(call: unknown): WireCall {
  if (!isObject(call)) return { id: null, name: '', argumentsText: '' }
  const called = isObject(call['function']) ? call['function'] : {}
  return readFunction(textOf(call['id']) === '' ? null : textOf(call['id']), called)
}

function readFunction(id: string | null, called: Record<string, unknown>): WireCall {
  const given = called['arguments']
  // Ollama's own chat has them as an object.
  const argumentsText = isObject(given) ? JSON.stringify(given) : textOf(given)
  return { id, name: textOf(called['name']), argumentsText }
}
