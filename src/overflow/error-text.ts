import { readCount } from './signature.ts'
import { parseJson } from './parse-json.ts'

/** What an error says, whatever shape it came in: normalised text, codes, statuses and stated sizes. */
export type ErrorFacts = {
  /** All messages, one per line, with plain apostrophes and quotes and single spaces; bounded. */
  readonly text: string
  /** Values of code and type fields, in lower case. */
  readonly codes: ReadonlySet<string>
  /** HTTP statuses that stand inside the body. */
  readonly statuses: readonly number[]
  /** The parameters that the error names as being at fault. */
  readonly params: ReadonlySet<string>
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
/** Gateways wrap gateways; four levels are known, each of them two or three objects deep. */
const depthMax = 12
const nodesMax = 256
const itemsMax = 16

const textKeys = new Set([
  'message',
  'error',
  'detail',
  'msg',
  'error_message',
  'error_description',
  'status_msg',
  'description',
  'title',
  'raw',
])
const nestedKeys = new Set([
  'error',
  'errors',
  'message',
  'detail',
  'details',
  'metadata',
  'raw',
  'error_message',
  'base_resp',
  'cause',
  'inner_error',
  'innererror',
])
const codeKeys = new Set([
  'code',
  'type',
  'error_type',
  'error_code',
  'status',
  'status_code',
  'http_status_code',
  'http_code',
  'error',
])

type Collected = {
  texts: string[]
  characters: number
  nodes: number
  codes: Set<string>
  statuses: number[]
  params: Set<string>
  promptTokens: number | null
  windowTokens: number | null
}

/** Reads an error body: JSON of any known shape, JSON within strings within JSON, or plain text. */
export function collectErrorFacts(body: string): ErrorFacts {
  return collectErrorFactsFrom(body.length <= jsonCharactersMax ? (parseJson(body.trim()) ?? body) : body)
}

/** The same for a body that is parsed already. */
export function collectErrorFactsFrom(value: unknown): ErrorFacts {
  const into: Collected = {
    texts: [],
    characters: 0,
    nodes: 0,
    codes: new Set(),
    statuses: [],
    params: new Set(),
    promptTokens: null,
    windowTokens: null,
  }
  visit(value, 0, into)
  return { ...into, text: into.texts.join('\n') }
}

// --- internal ---

// Only the fields in which servers put what they have to say are followed: validation errors may also carry the
// client's own request, and a conversation about overflows must not be taken for one.
function visit(value: unknown, depth: number, into: Collected): void {
  if (depth > depthMax || ++into.nodes > nodesMax) return
  if (typeof value === 'string') {
    addText(value, into)
    const nested = embeddedJson(value)
    if (nested !== null) visit(nested, depth + 1, into)
    return
  }
  if (Array.isArray(value)) {
    for (const item of value.slice(0, itemsMax) as unknown[]) visit(item, depth + 1, into)
    return
  }
  if (isRecord(value)) visitRecord(value, depth, into)
}

function visitRecord(record: Readonly<Record<string, unknown>>, depth: number, into: Collected): void {
  for (const key of codeKeys) addCode(record[key], into)
  const param = record['param']
  if (typeof param === 'string') into.params.add(param.toLowerCase())
  into.promptTokens ??= sizeField(record['n_prompt_tokens'])
  into.windowTokens ??= sizeField(record['n_ctx'])
  for (const key of textKeys) if (typeof record[key] === 'string') visit(record[key], depth + 1, into)
  for (const key of nestedKeys) if (typeof record[key] === 'object') visit(record[key], depth + 1, into)
  // OpenRouter: of a choice only its error, since the rest is the assistant's own text.
  const choices: unknown = record['choices']
  if (!Array.isArray(choices)) return
  for (const choice of choices.slice(0, itemsMax))
    if (isRecord(choice)) visit(choice['error'], depth + 1, into)
}

function addCode(value: unknown, into: Collected): void {
  if (typeof value !== 'string' && typeof value !== 'number') return
  const code = String(value).slice(0, 128).toLowerCase()
  into.codes.add(code)
  if (/^[1-5]\d\d$/.test(code)) into.statuses.push(Number(code))
}

function addText(value: string, into: Collected): void {
  const whole =
    value.length <= headCharactersMax + tailCharactersMax
      ? value
      : `${value.slice(0, headCharactersMax)} ${value.slice(-tailCharactersMax)}`
  const text = plainText(whole).slice(0, textCharactersMax - into.characters)
  if (text === '') return
  into.texts.push(text)
  into.characters += text.length
}

// Python prints the body of an error as b'{\n "error": …}', gateways put JSON behind a sentence of their own.
function embeddedJson(text: string): unknown {
  const start = text.indexOf('{')
  const end = text.lastIndexOf('}')
  if (start === -1 || end < start || end - start > jsonCharactersMax) return null
  const candidate = text.slice(start, end + 1)
  const parsed = parseJson(candidate)
  if (parsed !== null) return parsed
  return candidate.length <= textCharactersMax ? parseJson(withoutPythonEscapes(candidate)) : null
}

function withoutPythonEscapes(text: string): string {
  return text.replaceAll(/\\([nrt'\\])/g, (_, letter: string) =>
    letter === "'" || letter === '\\' ? letter : ' ',
  )
}

/**
 * One line with single spaces and straight apostrophes, in which what was escaped once or several times reads as if
 * it never had been. Written as a loop because the text is a stranger's and its cost must be linear.
 */
function plainText(text: string): string {
  let plain = ''
  let afterSpace = true
  let index = 0
  while (index < text.length) {
    let character = text.charAt(index++)
    if (character === '\\') {
      while (text.charAt(index) === '\\') index++
      character = text.charAt(index++)
      if (character === 'n' || character === 'r' || character === 't') character = ' '
      const hex = character === 'u' ? text.slice(index, index + 4) : ''
      if (/^[\da-f]{4}$/i.test(hex)) {
        character = String.fromCharCode(Number.parseInt(hex, 16))
        index += 4
      }
    }
    if (character === '\u2019' || character === '\u2018') character = "'"
    const isSpace = character === '' || /\s/.test(character)
    if (!isSpace) plain += character
    else if (!afterSpace) plain += ' '
    afterSpace = isSpace
  }
  return plain.trimEnd()
}

function sizeField(value: unknown): number | null {
  const count = typeof value === 'number' ? readCount(String(value)) : null
  return count === 0 ? null : count
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
