import {
  asJson,
  depthMax,
  echoKeys,
  embeddedJson,
  holdsError,
  isErrorKey,
  newSearch,
  saysWhy,
} from './embedded-json.ts'
import { ownWords, plainText } from './own-words.ts'
import { isJsonObject, parseJsonText, type JsonObject } from '../json/json-value.ts'
import { readCount } from './token-numbers.ts'

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
  /** It is about one field of the request, and says where that stands (pydantic's `loc`). */
  readonly isAboutField: boolean
  /** llama.cpp states both sizes as fields. */
  readonly promptTokens: number | null
  readonly windowTokens: number | null
}

/** Longer bodies are no error messages; they are read as text, from their beginning. */
const jsonCharactersMax = 1 << 20
/** Of one message. Wrapped errors carry the decisive sentence first or, under a stack trace, last. */
const headCharactersMax = 6144
const tailCharactersMax = 2048
/** Of all messages together: what the patterns are run over, since upstreams may quote a client's text. */
const textCharactersMax = 16_384
const nodesMax = 256
const itemsMax = 16
/** The names of exceptions before a message take no more. */
const leadCharactersMax = 400

const textKeys =
  'message error detail msg error_message error_description status_msg description title raw reason error_msg'.split(
    ' ',
  )
const nestedKeys =
  'error errors message detail details metadata raw error_message base_resp cause inner_error innererror'.split(
    ' ',
  )
const codeKeys = 'code type error_type error_code status status_code http_status_code http_code error'.split(
  ' ',
)

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

function nothingCollected() {
  return {
    texts: new Array<string>(),
    words: new Array<string>(),
    characters: 0,
    nodes: 0,
    search: newSearch(),
    codes: new Set<string>(),
    exceptions: new Set<string>(),
    statuses: new Array<number>(),
    params: new Set<string>(),
    isAboutField: false,
    /** Sizes that stand in fields of their own, by the field's name. */
    sizes: new Map<string, number>(),
  }
}

type Collected = ReturnType<typeof nothingCollected>

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
    return
  }
  if (Array.isArray(value)) {
    for (const item of value.slice(0, itemsMax) as unknown[]) visit(item, depth + 1, into)
    return
  }
  if (isJsonObject(value)) visitRecord(value, depth, into)
}

function visitRecord(record: JsonObject, depth: number, into: Collected): void {
  for (const key of codeKeys) addCode(record[key], into)
  if (Array.isArray(record['loc'])) into.isAboutField = true
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
  const message = bounded(value)
  const text = plainText(message).slice(0, textCharactersMax - into.characters)
  if (text === '') return
  into.texts.push(text)
  into.characters += text.length
  const words = ownWords(message)
  if (words !== '') into.words.push(words)
  addExceptions(words, into)
}

function bounded(text: string): string {
  if (text.length <= headCharactersMax + tailCharactersMax) return text
  return `${text.slice(0, headCharactersMax)} ${text.slice(-tailCharactersMax)}`
}

/** LiteLLM's `litellm.ContextWindowExceededError: litellm.BadRequestError: …`: names at the very beginning. */
function addExceptions(words: string, into: Collected): void {
  for (const part of words.slice(0, leadCharactersMax).split(/ ?: | - /)) {
    const name = /^(?:[\w.]{1,60}\.)?(\w{1,60}(?:Error|Exception)):?$/.exec(part)?.[1]
    if (name === undefined) return
    into.exceptions.add(name.toLowerCase())
  }
}
