import { isJsonObject, parseJsonText, type JsonObject } from '../json/json-value.ts'
import { isFault } from './words.ts'
import { hasGap, ownWords } from './own-words.ts'

/** An error that a gateway put into a text of its own. */
export type EmbeddedJson = {
  /** The gateway's text: what stands before and behind the error. */
  readonly around: string
  readonly value: unknown
  /** The status that the gateway says it came with; null where it says none. */
  readonly status: number | null
}

/** A longer text before an error is a story, not a wrapper's. */
const leadCharactersMax = 400
/** Longer candidates are read as JSON only, not as what Python prints. */
const pythonCharactersMax = 16_384

/**
 * Finds the error that a text wraps, e.g. `litellm.BadRequestError: OpenAIException - b'{"error": …}'`, and
 * `Error code: 400 - {'error': …}`. JSON that states no error is the client's, and so is what stands in a quotation, or in
 * words about another matter, e.g. `invalid role: {…`. Null where there is none.
 */
export function embeddedJson(text: string, search: Search): EmbeddedJson | null {
  const start = text.search(/[[{](?:\s|\\+[nrt])*\\*["'{[]/)
  if (start === -1) return null
  // The one quotation mark of a wrapper is that of Python's bytes.
  const lead = text.slice(0, start).replace(/\bb["']$/, '')
  const end = text.lastIndexOf(text.charAt(start) === '{' ? '}' : ']')
  if (lead.length > leadCharactersMax || end < start) return null
  const tail = text.slice(end + 1, end + 1 + leadCharactersMax).replace(/^(?:["'\s]|\\+[nrt])+/, '')
  const around = `${lead} ${tail}`
  const status = lead.match(statedStatus)?.at(-1)?.slice(-3)
  // Behind a status stands what came with it, whatever that is called.
  const isEcho =
    status === undefined
      ? hasGap(ownWords(`${lead.trim()} it ${tail}`))
      : quotationMark.test(lead.replaceAll(quotedName, ''))
  if (isAttached.test(lead) || isEcho || isFault(around)) return null
  const candidate = text.slice(start, end + 1)
  const value = parseJsonText(candidate) ?? parsePython(candidate)
  return holdsError(value, search) || saysWhy(value)
    ? { around, value, status: status === undefined ? null : Number(status) }
    : null
}

/** What may be looked at in search of an error, in nodes; shared by all that look through one body. */
export type Search = { nodesLeft: number }
export const newSearch = (): Search => ({ nodesLeft: 4_096 })

/** Whether something has an error with words, under any key but those of what a client has sent. */
export function holdsError(value: unknown, search: Search, depth = 0): value is object {
  if (depth > depthMax || search.nodesLeft <= 0) return false
  search.nodesLeft -= 1
  if (Array.isArray(value))
    return value.slice(0, itemsMax).some((item) => holdsError(item, search, depth + 1))
  if (!isJsonObject(value) || isRequest(value)) return false
  return Object.entries(value).some(([key, each]) => {
    if (echoKeys.has(key) || search.nodesLeft <= 0) return false
    const inner = asJson(each, search)
    return (isErrorKey.test(key) && (isText(inner) || saysWhy(inner))) || holdsError(inner, search, depth + 1)
  })
}

/** What a text holds as JSON, and what stands behind a status in it; anything else as it is. */
export function asJson(value: unknown, search: Search): unknown {
  if (typeof value !== 'string' || !/[{[]/.test(value)) return value
  if (value.length > textCharactersMax) return value
  const whole = /^\s*[{[]/.test(value) ? parseJsonText(value.trim()) : null
  if (whole !== null) return whole
  const embedded = embeddedJson(value, search)
  return embedded?.status == null ? value : embedded.value
}

/** Whether it is an error itself; of a list, whether the first is. */
export function saysWhy(value: unknown): value is object {
  const [error]: readonly unknown[] = Array.isArray(value) ? value : [value]
  return isJsonObject(error) && !isRequest(error) && wordKeys.some((key) => isText(error[key]))
}

/** An error by its name: `error`, `errors`, `upstream_error`. */
export const isErrorKey = /(?:^|_)errors?$/i

/** Under these stands what a client has sent. */
export const echoKeys: ReadonlySet<string> = new Set(
  'request input inputs ctx loc value given received content contents prompt messages params arguments headers url user'.split(
    ' ',
  ),
)

// --- internal ---

const itemsMax = 16
/** Longer texts are no wrapped errors. */
const textCharactersMax = 16_384
/** Gateways wrap gateways; four levels are known, each of them two or three objects deep. */
export const depthMax = 12

/** Where the words of an error stand. */
const wordKeys = 'error message detail msg reason error_message error_msg status_msg'.split(' ')

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** A request that is repeated; Cloudflare's errors hold an empty list of messages. */
function isRequest({ messages, role, input }: JsonObject): boolean {
  return role !== undefined || input !== undefined || (Array.isArray(messages) && messages.length > 0)
}

const quotationMark = /["'`\u201c-\u201e\u2018\u2019\u00ab\u00bb\u2039\u203a\u300c-\u300f]/
/** A provider's, between its own marks. */
const quotedName = /(["'`])[\w.:/-]{1,60}\1/g
/** Part of an address, of a path or of a word. */
const isAttached = /[\w/\\=&?%#,;<>]$/
const statedStatus = /\b(?:status(?: code)?|code|http|error|:)[ :=]{1,3}[1-5]\d\d\b/gi

/** JSON whose escapes Python escaped once more (`b'{\n "error": …}'`), or a dictionary as Python prints it. */
function parsePython(text: string): unknown {
  if (text.length > pythonCharactersMax) return null
  const unescaped = text.replaceAll(/\\([nrt'\\])/g, (_, letter: string) =>
    letter === "'" || letter === '\\' ? letter : ' ',
  )
  return parseJsonText(unescaped) ?? parseJsonText(jsonOfPython(text))
}

function jsonOfPython(text: string): string {
  // One that is left open runs to the end, so that no character is read twice.
  const tokens = /'((?:[^'\\]|\\.)*)(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|\bNone\b|\bTrue\b|\bFalse\b/gs
  return text.replaceAll(tokens, (token, single: string | undefined) => {
    if (single !== undefined) return JSON.stringify(single.replaceAll(/\\(.)/gs, '$1'))
    if (token === 'None') return 'null'
    return token.startsWith('"') ? token : token.toLowerCase()
  })
}
