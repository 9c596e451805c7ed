/** The raw JSON texts that make up a prompt of chat completions. */
export type RawRequest = {
  /** One for every message, without the whitespace around it. */
  readonly messages: readonly string[]
  /** The value of `tools`, '' where there is none. */
  readonly tools: string
}

/** Cuts the raw texts out of a body which JSON.parse has accepted as an object, and whose `messages` is an array. */
export function cutRawRequest(body: string): RawRequest {
  const members = rawMembers(body)
  return { messages: rawElements(members.get('messages') ?? ''), tools: members.get('tools') ?? '' }
}

/** The raw values of a JSON object by their keys. Of keys that stand twice the last one counts, as for JSON.parse. */
export function rawMembers(object: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  let at = skipBlank(object, skipBlank(object, 0) + 1)
  while (object[at] === '"') {
    const keyEnd = endOfString(object, at)
    const start = skipBlank(object, skipBlank(object, keyEnd) + 1)
    const end = endOfValue(object, start)
    members.set(String(JSON.parse(object.slice(at, keyEnd))), object.slice(start, end))
    at = skipBlank(object, end)
    if (object[at] === ',') at = skipBlank(object, at + 1)
  }
  return members
}

/** The raw elements of a JSON array, without the whitespace around them; none of any other value. */
export function rawElements(array: string): readonly string[] {
  const elements: string[] = []
  if (!array.startsWith('[')) return elements
  let at = skipBlank(array, 1)
  while (at < array.length && array[at] !== ']') {
    const end = endOfValue(array, at)
    elements.push(array.slice(at, end))
    at = skipBlank(array, end)
    if (array[at] === ',') at = skipBlank(array, at + 1)
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
