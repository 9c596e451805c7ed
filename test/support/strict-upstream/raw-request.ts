/** The raw JSON texts that make up a prompt. */
export type RawRequest = {
  /** One for every message, without the whitespace around it. */
  readonly messages: readonly string[]
  /** The value of `tools`, '' where there is none. */
  readonly tools: string
}

/**
 * Cuts the raw texts out of a body which JSON.parse has accepted as an object, and whose `messages` is an
 * array. Of keys that stand twice the last one counts, as for JSON.parse.
 */
export function cutRawRequest(body: string): RawRequest {
  let messages: readonly string[] = []
  let tools = ''
  let at = skipBlank(body, skipBlank(body, 0) + 1)
  while (body[at] === '"') {
    const keyEnd = endOfString(body, at)
    const key: unknown = JSON.parse(body.slice(at, keyEnd))
    const start = skipBlank(body, skipBlank(body, keyEnd) + 1)
    const end = endOfValue(body, start)
    if (key === 'messages') messages = elementsOf(body, start)
    if (key === 'tools') tools = body.slice(start, end)
    at = skipBlank(body, end)
    if (body[at] === ',') at = skipBlank(body, at + 1)
  }
  return { messages, tools }
}

// --- internal ---

function elementsOf(body: string, start: number): readonly string[] {
  const elements: string[] = []
  let at = skipBlank(body, start + 1)
  while (at < body.length && body[at] !== ']') {
    const end = endOfValue(body, at)
    elements.push(body.slice(at, end))
    at = skipBlank(body, end)
    if (body[at] === ',') at = skipBlank(body, at + 1)
  }
  return elements
}

function skipBlank(body: string, start: number): number {
  let at = start
  while (at < body.length && body.charCodeAt(at) <= 0x20) at += 1
  return at
}

function endOfString(body: string, start: number): number {
  let at = start
  for (;;) {
    at = body.indexOf('"', at + 1)
    if (at === -1) return body.length
    let slashes = 0
    while (body[at - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return at + 1
  }
}

function endOfValue(body: string, start: number): number {
  const opening = body[start]
  if (opening === '"') return endOfString(body, start)
  if (opening !== '{' && opening !== '[') {
    const stop = /[,\]}\s]/g
    stop.lastIndex = start
    return stop.exec(body)?.index ?? body.length
  }
  const structure = /["[\]{}]/g
  let depth = 0
  structure.lastIndex = start
  for (let found = structure.exec(body); found !== null; found = structure.exec(body)) {
    if (found[0] === '"') structure.lastIndex = endOfString(body, found.index)
    else depth += found[0] === '{' || found[0] === '[' ? 1 : -1
    if (depth === 0) return found.index + 1
  }
  return body.length
}
