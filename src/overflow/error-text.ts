import { isJsonObject, parseJsonText, type JsonObject } from '../json/json-value.ts'
import { hasGap, ownWords, plainText } from './own-words.ts'
import { readCount } from './token-numbers.ts'
import { isFault } from './words.ts'

/** What an error says, whatever shape it came in: normalised text, codes, statuses and stated sizes. */
export type ErrorFacts = {
  /** All messages, one per line, with plain apostrophes and quotes and single spaces; bounded. */
  readonly text: string
  /** The same without quotations, addresses, marks and input that is repeated: what a client cannot have written. */
  readonly words: string
  /** Values of code and type fields, in lower case. */
  readonly codes: ReadonlySet<string>
  /** Names of exceptions that gateways put before a message, e.g. `contextwindowexceedederror`; in lower case. */
  readonly exceptions: ReadonlySet<string>
  /** HTTP statuses that stand inside the body. */
  readonly statuses: readonly number[]
  /** The parameters that the error names as being at fault. */
  readonly params: ReadonlySet<string>
  /** The names on the way to the field that it is about, where it says where that stands (pydantic's `loc`). */
  readonly fields: ReadonlySet<string>
  /** llama.cpp states both sizes as fields. */
  readonly promptTokens: number | null
  readonly windowTokens: number | null
}

/** Reads an error body: JSON of any known shape, JSON within strings within JSON, or plain text. */
export function collectErrorFacts(body: string): ErrorFacts {
  return collectErrorFactsFrom(body.length <= jsonCharactersMax ? (parseJsonText(body.trim()) ?? body) : body)
}

/** The same for a body that is parsed already. */
export function collectErrorFactsFrom(value: unknown): ErrorFacts {
  const into = nothingCollected()
  visit(value, 0, into)
  return {
    ...into,
    text: into.texts.join('\n'),
    words: into.words.join('\n'),
    promptTokens: into.sizes.get('n_prompt_tokens') ?? null,
    windowTokens: into.sizes.get('n_ctx') ?? null,
  }
}

// --- internal ---

/** Longer bodies are no error messages; they are read as text, from their beginning. */
const jsonCharactersMax = 1 << 20
/** Of one message. Wrapped errors carry the decisive sentence first or, under a stack trace, last. */
const headCharactersMax = 6144
const tailCharactersMax = 2048
/** Of all messages together: what the patterns are run over, since upstreams may quote a client's text. */
const textCharactersMax = 16_384
/** Longer texts are no wrapped errors, and longer candidates not what Python prints. */
const wrappedCharactersMax = 16_384
/** A longer text before an error is a story, not a wrapper's; the names of exceptions before a message take no more. */
const leadCharactersMax = 400
const nodesMax = 256
/** What may be looked at in search of errors under other keys. */
const searchedNodesMax = 4_096
const itemsMax = 16
/** Gateways wrap gateways; four levels are known, each of them two or three objects deep. */
const depthMax = 12

const named = (names: string): readonly string[] => names.split(' ')
const textKeys = named(
  'message error detail msg error_message error_description status_msg description title raw reason error_msg',
)
const nestedKeys = named(
  'error errors message detail details metadata raw error_message base_resp cause inner_error innererror',
)
const codeKeys = named('code type error_type error_code status status_code http_status_code http_code error')
/** Where the words of an error stand. */
const wordKeys = named('error message detail msg reason error_message error_msg status_msg')
/** Under these stands what a client has sent. */
const echoKeys: ReadonlySet<string> = new Set(
  named(
    'request input inputs ctx loc value given received content contents prompt messages params arguments headers url user',
  ),
)
/** An error by its name: `error`, `errors`, `upstream_error`. */
const isErrorKey = /(?:^|_)errors?$/i

function nothingCollected() {
  return {
    texts: new Array<string>(),
    words: new Array<string>(),
    characters: 0,
    nodes: 0,
    search: { nodesLeft: searchedNodesMax },
    codes: new Set<string>(),
    exceptions: new Set<string>(),
    statuses: new Array<number>(),
    params: new Set<string>(),
    fields: new Set<string>(),
    /** Sizes that stand in fields of their own, by the field's name. */
    sizes: new Map<string, number>(),
  }
}

type Collected = ReturnType<typeof nothingCollected>
type Search = Collected['search']

// Followed are the fields in which servers put what they have to say, and whatever is an error itself: validation errors
// may also carry the client's own request, and a conversation about overflows must not be taken for one.
function visit(value: unknown, depth: number, into: Collected): void {
  if (depth > depthMax || ++into.nodes > nodesMax) return
  if (typeof value === 'string') {
    const embedded = value.length <= jsonCharactersMax ? embeddedJson(value, into.search) : null
    addText(embedded?.around ?? value, into)
    if (embedded === null) return
    if (embedded.status !== null) into.statuses.push(embedded.status)
    visit(embedded.value, depth + 1, into)
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, itemsMax) as unknown[]) visit(item, depth + 1, into)
  } else if (isJsonObject(value)) visitRecord(value, depth, into)
}

function visitRecord(record: JsonObject, depth: number, into: Collected): void {
  for (const key of codeKeys) addCode(record[key], into)
  const path: readonly unknown[] = Array.isArray(record['loc']) ? record['loc'] : []
  for (const name of path.slice(0, itemsMax)) if (typeof name === 'string') into.fields.add(name)
  const param = record['param']
  if (typeof param === 'string') into.params.add(param.toLowerCase())
  for (const key of ['n_prompt_tokens', 'n_ctx']) {
    const size = typeof record[key] === 'number' ? readCount(String(record[key])) : null
    if (size !== null && size > 0 && !into.sizes.has(key)) into.sizes.set(key, size)
  }
  for (const key of textKeys) if (typeof record[key] === 'string') visit(record[key], depth + 1, into)
  for (const key of nestedKeys) if (typeof record[key] === 'object') visit(record[key], depth + 1, into)
  for (const [key, value] of Object.entries(record)) {
    if (echoKeys.has(key) || textKeys.includes(key) || nestedKeys.includes(key)) continue
    const wrapped = asJson(value, into.search)
    const isError = isErrorKey.test(key) && saysWhy(wrapped)
    if (isError || holdsError(wrapped, into.search, depth + 1)) visit(wrapped, depth + 1, into)
  }
}

function addCode(value: unknown, into: Collected): void {
  if (typeof value !== 'string' && typeof value !== 'number') return
  const code = String(value).slice(0, 128).toLowerCase()
  into.codes.add(code)
  if (/^[1-5]\d\d$/.test(code)) into.statuses.push(Number(code))
}

function addText(value: string, into: Collected): void {
  const isLong = value.length > headCharactersMax + tailCharactersMax
  const message = isLong ? `${value.slice(0, headCharactersMax)} ${value.slice(-tailCharactersMax)}` : value
  const text = plainText(message).slice(0, textCharactersMax - into.characters)
  if (text === '') return
  into.texts.push(text)
  into.characters += text.length
  const words = ownWords(message)
  if (words !== '') into.words.push(words)
  // LiteLLM's `litellm.ContextWindowExceededError: litellm.BadRequestError: …`: names at the very beginning.
  for (const part of words.slice(0, leadCharactersMax).split(/ ?: | - /)) {
    const name = /^(?:[\w.]{1,60}\.)?(\w{1,60}(?:Error|Exception)):?$/.exec(part)?.[1]
    if (name === undefined) return
    into.exceptions.add(name.toLowerCase())
  }
}

/**
 * Finds the error that a text wraps, e.g. `litellm.BadRequestError: OpenAIException - b'{"error": …}'`, and
 * `Error code: 400 - {'error': …}`: the gateway's text around it, and the status that it says it came with. JSON that states no
 * error is the client's, and so is what stands in a quotation, or in words about another matter, e.g. `invalid role: {…`. Null
 * where there is none.
 */
function embeddedJson(text: string, search: Search) {
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
  if (!holdsError(value, search) && !saysWhy(value)) return null
  return { around, value, status: status === undefined ? null : Number(status) }
}

const quotationMark = /["'`\u201c-\u201e\u2018\u2019\u00ab\u00bb\u2039\u203a\u300c-\u300f]/
/** A provider's, between its own marks. */
const quotedName = /(["'`])[\w.:/-]{1,60}\1/g
/** Part of an address, of a path or of a word. */
const isAttached = /[\w/\\=&?%#,;<>]$/
const statedStatus = /\b(?:status(?: code)?|code|http|error|:)[ :=]{1,3}[1-5]\d\d\b/gi

/** Whether something has an error with words, under any key but those of what a client has sent. */
function holdsError(value: unknown, search: Search, depth = 0): value is object {
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
function asJson(value: unknown, search: Search): unknown {
  if (typeof value !== 'string' || !/[{[]/.test(value) || value.length > wrappedCharactersMax) return value
  const whole = /^\s*[{[]/.test(value) ? parseJsonText(value.trim()) : null
  if (whole !== null) return whole
  const embedded = embeddedJson(value, search)
  return embedded?.status == null ? value : embedded.value
}

/** Whether it is an error itself; of a list, whether the first is. */
function saysWhy(value: unknown): value is object {
  const [error]: readonly unknown[] = Array.isArray(value) ? value : [value]
  return isJsonObject(error) && !isRequest(error) && wordKeys.some((key) => isText(error[key]))
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** A request that is repeated; Cloudflare's errors hold an empty list of messages. */
function isRequest({ messages, role, input }: JsonObject): boolean {
  return role !== undefined || input !== undefined || (Array.isArray(messages) && messages.length > 0)
}

/** JSON whose escapes Python escaped once more (`b'{\n "error": …}'`), or a dictionary as Python prints it. */
function parsePython(text: string): unknown {
  if (text.length > wrappedCharactersMax) return null
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
