import { parseJsonText } from '../conversation/json-value.ts'

/** An error that a gateway put into a text of its own. */
export type EmbeddedJson = {
  /** The gateway's text: what stands before and behind the error. */
  readonly around: string
  readonly value: unknown
}

/** A longer text before an error is a story, not a wrapper's. */
const leadCharactersMax = 400
/** Longer candidates are read as JSON only, not as what Python prints. */
const pythonCharactersMax = 16_384

/**
 * Finds the error that a text wraps, e.g. `litellm.BadRequestError: OpenAIException - b'{"error": …}'`, and
 * `Error code: 400 - {'error': …}`. Only wrappers' words may stand around it: among others, e.g. `invalid role: {…`,
 * JSON is the client's, and quoted. Null where there is none.
 */
export function embeddedJson(text: string): EmbeddedJson | null {
  const start = text.search(/[[{]/)
  if (start === -1) return null
  const lead = text.slice(0, start).replace(askedProvider, 'provider')
  if (!isWrapper(lead)) return null
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  if (end < start || !wrapperTail.test(text.slice(end + 1, end + 1 + leadCharactersMax))) return null
  const candidate = text.slice(start, end + 1)
  const value = parseJsonText(candidate) ?? parsePython(candidate)
  return typeof value === 'object' && value !== null && !isRequest(value)
    ? { around: `${lead} ${text.slice(end + 1)}`, value }
    : null
}

// --- internal ---

/** A request that is repeated; Cloudflare's errors hold an empty list of messages. */
function isRequest(value: object): boolean {
  const { messages, role }: { messages?: unknown; role?: unknown } = value
  return role !== undefined || (Array.isArray(messages) && messages.length > 0)
}

/** What gateways and libraries say before they pass on an error. */
const wrapperWords = new Set(
  `a ai an and api b bad by code desc entity error errors exception failed following from gateway got http https
  internal provider rejected remote request response returned rpc server status the to unprocessable
  upstream was with`.split(/\s+/),
)

/** Claude Code Router names whom it asked, and for which model: `Error from provider(local,qwen3: 400): {…`. */
const askedProvider = /\bprovider\([\w.,:@/+-]{1,200}: \d{3}\)/i

/** Nothing but punctuation, or what LiteLLM and relays add. */
const wrapperTail =
  /^[\s\\"'nr.,;)\]]*(?:$|(?:received|available) model|litellm|fallback|lite|\(?request[ _-]?id|\(via|model:|trace)/i
const quotationMark = /["'`\u201c-\u201e\u2018\u2019\u00ab\u00bb\u2039\u203a\u300c-\u300f]/

function isWrapper(lead: string): boolean {
  // The one quotation mark of a wrapper is that of Python's bytes.
  if (lead.length > leadCharactersMax || quotationMark.test(lead.replace(/\bb["']$/, ''))) return false
  const words = lead.match(/[\p{L}\p{N}_.]+/gu) ?? []
  return words.every((word) => {
    const bare = word.toLowerCase().replace(/^\.+|\.+$/g, '')
    return /^(?:\d{3}|[\w.]{0,80}(?:error|exception))$/.test(bare) || wrapperWords.has(bare)
  })
}

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
