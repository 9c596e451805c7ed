/**
 * What a server itself says in a message: without quoted spans, addresses, files, field paths, input that it repeats, and
 * the marks of gateways; bars stand for its line ends. Whatever a client sends may come back in an error, and must decide
 * nothing. Where it is unclear how far a quotation goes, it goes to the end: a server's own words come first.
 */
export function ownWords(message: string): string {
  const said = withoutAddresses(withoutQuotations(withoutEchoes(withPlainMarks(message))))
  return withoutMarks(plainText(said.replaceAll(/(?:\n|\r|\\+n)+/g, ' | ')))
}

/** Whether it breaks off where a server repeats what it was sent, or something is quoted. */
export function hasGap(words: string): boolean {
  return words.includes(gap.trim())
}

/**
 * One line with single spaces and straight apostrophes, in which what was escaped once or several times reads as if
 * it never had been. The text is a stranger's: nothing here costs more than its length.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(/\\+(?:u([\da-fA-F]{4})|([^]?))/g, (_, hex: string | undefined, escaped: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
      return /[nrt]/.test(escaped) ? ' ' : escaped
    })
    .replaceAll(/[\u2018\u2019]/g, "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/**
 * The sentences of a server's own words. What a gateway says behind a message that has no point at its end begins with a
 * capital letter at most, and so do names and German nouns.
 */
export function sentencesIn(words: string, by: 'points' | 'capitals'): readonly string[] {
  return words
    .replaceAll(spelledCode, (code) => code.replaceAll('_', ' '))
    .split(by === 'points' ? sentenceEnd : anySentenceEnd)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
}

/** A sentence without what stands before its colons and speaks of no size, such as a gateway's name. */
export function withoutLabels(sentence: string): string {
  let rest = sentence
  for (;;) {
    const label = /^[^:]{1,80}:+ +/.exec(rest)?.[0]
    if (label === undefined || sizeWord.test(label)) return rest
    rest = rest.slice(label.length)
  }
}

// --- internal ---

/** Quotation marks that JSON or HTML spelt out. */
function withPlainMarks(message: string): string {
  return message
    .replaceAll(/\\u(00(?:22|27|60|ab|bb)|20(?:18|1[9cde]|39|3a))/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    .replaceAll(/&(?:quot|#34|#x22);/gi, '"')
    .replaceAll(/&(?:apos|#39|#x27);/gi, "'")
}

/** Stands for something that was taken out. */
const gap = ' \u2026 '

/** Behind these a server repeats what it was sent; a number or its unit behind them is the server's own count. */
const echoes = [
  /\b(?:received|got|found|given|value|actual|body|payload|content|role|tools?|functions?|ids?|tool_call_id|name|header|key|field|param|parameter|argument|path|file|filename|url|uri|format|type|input_value|input_type|user|arguments)["'`]? ?[:=](?!\s{0,8}["'`(]?\d)/i,
  // Without a colon only what is no number of tokens, and no word of a gateway on what it got.
  /\b(?:received|got|saw)\b(?! (?:\d|about|at least|total|error|status|response|an? (?:\w+ )?(?:prompt|request|input|total|conversation|error|response|status)|(?:your|prompt|input|request|messages?) (?:of|with|from|containing)|(?:available )?model))(?= \w)/i,
  /\(parameter=/i,
  // A page, or a request, in the middle of a sentence.
  /(?:<|&lt;)(?:!doctype|html|head|body|title|h\d|p|div|pre|script|center)\b/i,
  /[[{] ?\\*["']\w/,
]

function withoutEchoes(message: string): string {
  let end = message.length
  for (const echo of echoes) {
    const match = echo.exec(message)
    if (match !== null) end = Math.min(end, match.index + echoWord(match[0]).length)
  }
  return end === message.length ? message : message.slice(0, end) + gap
}

/** The word that announces the repetition is the server's. */
function echoWord(announcement: string): string {
  return /^\w*/.exec(announcement)?.[0] ?? ''
}

const closing: Readonly<Record<string, readonly string[]>> = {
  '"': ['"'],
  "'": ["'"],
  '`': ['`'],
  '\u201c': ['\u201d'],
  '\u201e': ['\u201c', '\u201d'],
  '\u2018': ['\u2019'],
  '\u00ab': ['\u00bb'],
  '\u2039': ['\u203a'],
  '\u300c': ['\u300d'],
  '\u300e': ['\u300f'],
}

/** Fields of a request that wordings name in quotation marks; anybody may say these words. */
const fieldName =
  /^(?:inputs?|prompts?|messages|tokens|max_\w{0,30}tokens|\w{1,20}_max_tokens|\w{1,20}_len|n_ctx|n_keep)$/
/** A model's name is taken out, and the sentence goes on. */
const beforeName = /\b(?:model|engine|deployment|endpoint|provider|for|of) ?$/i
const name = /^[\p{L}\p{N}_.:@/+-]{1,80}$/u

function withoutQuotations(text: string): string {
  let words = ''
  let index = 0
  while (index < text.length) {
    const character = text.charAt(index)
    const closers = opensQuotation(text, index) ? closing[character] : undefined
    if (closers === undefined) {
      words += character
      index++
      continue
    }
    const end = quotationEnd(text, index, closers)
    const content = end === -1 ? '' : text.slice(index + 1, end).replace(/\\+$/, '')
    if (fieldName.test(content)) words += `${character}${content}${text.charAt(end)}`
    else if (name.test(content) && beforeName.test(words.slice(-40))) words += gap
    else return words + gap
    index = end + 1
  }
  return words
}

/** An apostrophe stands behind a letter, a quotation mark does not. */
function opensQuotation(text: string, index: number): boolean {
  const character = text.charAt(index)
  if (!Object.hasOwn(closing, character)) return false
  const isApostrophe = character === "'" || character === '\u2018'
  return !isApostrophe || !/[\p{L}\p{N}]/u.test(text.charAt(index - 1))
}

/** A mark that is escaped more or less often than the opening one belongs to what is quoted. */
function quotationEnd(text: string, start: number, closers: readonly string[]): number {
  const escapes = escapesBefore(text, start)
  for (let index = start + 1; index < text.length; index++) {
    const character = text.charAt(index)
    if (!closers.includes(character) || escapesBefore(text, index) !== escapes) continue
    const isApostrophe = character === "'" || character === '\u2019'
    if (!isApostrophe || !/[\p{L}\p{N}]/u.test(text.charAt(index + 1))) return index
  }
  return -1
}

function escapesBefore(text: string, index: number): number {
  let count = 0
  while (count < 8 && text.charAt(index - 1 - count) === '\\') count++
  return count
}

const address = /\b(?:[a-z][a-z\d+.-]{0,15}:\/\/|data:[\w/]{1,40}[;,]|www\.)\S*/i
/** Addresses of servers, which a client does not choose, stand behind these. */
const serverLead = /\b(?:post|get|request to|calling|call to|upstream|endpoint|api) ?$/i

/** An address that a sentence is about may go on with spaces in it. */
function withoutAddresses(text: string): string {
  let rest = text
  let words = ''
  for (;;) {
    const match = address.exec(rest)
    if (match === null) break
    const lead = rest.slice(0, match.index)
    words += lead + gap
    if (!serverLead.test(lead)) return words
    rest = rest.slice(match.index + match[0].length)
  }
  return words + rest
}

/**
 * A text without what identifies a request, a moment or a place: ids, traces, statuses, retries, addresses, dates, prices, and
 * every bracket without a size in it. Their numbers count no tokens, and their words are not about the request.
 */
function withoutMarks(text: string): string {
  let words = text
    .replaceAll(angled, ' ')
    .replaceAll(bracket, (all, open: string, inside: string) => (speaksOfSize(open, inside) ? all : ' '))
  for (const mark of marks) words = words.replaceAll(mark, ' ')
  return words.replaceAll(/ {2,}/g, ' ')
}

/** Not within a number, an abbreviation or a name: those go on with something else than a space. */
const sentenceEnd = /(?<=[^.]{2}[.!?])(?: |$)|(?<=[\u3002\uff01\uff1f])|\n| \| /
const anySentenceEnd = new RegExp(
  String.raw`${sentenceEnd.source}|(?<=[\p{Ll}\p{Lo}\d)\]]) (?=\p{Lu}\p{Ll}* \p{Ll})`,
  'u',
)

/** A code that stands in the place of a sentence, such as `prompt_too_long`. */
const spelledCode = /(?<=^|[:\]>] |\n)[a-z]+(?:_[a-z]+){2,5}(?=$|[: \n])/g

/** What stands in these is a code or a tag; a comparison has none of its own kind behind it. */
const angled = /<(?![\s=<>])[^<>()[\]{}\n\u2026]{0,400}>/g
/** One that a repetition was cut out of does not end. */
const bracket = /([([{])([^()[\]{}\n\u2026]{0,400})(?:[)\]}]|(?<=[([][^{]{0,400})\u2026)/g
const sizeWord =
  /token|length|prompt|\bn_\w|\binputs?\b|output|completion|messages?\b|max|size|limit|context|window|functions?\b|query|requested|received|characters|word/i
/** A number or a comparison is a size in round brackets and a range in square ones. */
const bareNumber = /^[\d\s,._+\u2013<>=*/-]+(?:[kK]|tok)?$/

function speaksOfSize(open: string, inside: string): boolean {
  if (open === '[') return /^\d+, ?\d/.test(inside)
  return bareNumber.test(inside) || (sizeWord.test(inside) && !identifies.test(inside))
}

const identifies = /\b(?:\w{0,20}id|trace\w*|http|status|code|node|retr\w+|attempts?|model|type)\b ?[ :=]/i

const marks: readonly RegExp[] = [
  // LiteLLM's `Received Model Group=small`, and its kind.
  /(?:\b[A-Z][a-z]+ ){1,4}[A-Z][a-z]+=\S*/g,
  // What only says that a message follows.
  /\b(?:error )?(?:message|msg|detail|reason|body) ?[:=] /gi,
  // Whom to ask, dates and times, addresses with their ports, prices.
  /\bcontact (?:\w+ ){0,2}(?:support|administrator|sales)\b|[\w.+-]{1,60}@[\w.-]{1,60}/gi,
  /\b\d{4}-\d\d-\d\d(?:[T ][\d:.,]{4,16}(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d?:\d\d(?::\d\d(?:\.\d+)?)?\b/g,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\blocalhost:\d{1,5}\b|\b[\w-]{1,60}(?:\.[\w-]{1,60}){1,6}:\d{2,5}\b/g,
  /(?:[$\u20ac\u00a3\u00a5]|\b(?:usd|eur|cny|rmb) ?)\d[\d.,]*|\b\d[\d.,]* ?(?:usd|eur|cny|rmb|dollars?|cents?)\b/gi,
  // What is named an id, a trace or a code, and its value.
  /\b(?:request|trace|correlation|log|session|call|span|ray|x)[ _-]?(?:request[ _-]?)?(?:id|trace)\b[ :=#]{0,3}[\w./+=-]{0,80}|\b(?:trace|rid|reqid)[ :=#]{1,3}[\w./+=-]{1,80}/gi,
  // A word of letters and digits that is no name of a field or of a size.
  /\b(?=\w{0,60}\d)(?=\w{0,60}[a-z_])(?!(?:\d[\d,._]*[km]?|n_ctx\w*|max_\w+|\w+_len)\b)(?:[a-z]{1,12}_)?[\da-f-]{8,80}\b|\b[a-z]{2,12}_(?=[a-z]*\d)[\da-zA-Z]{6,80}\b/gi,
  /\b\d{13,80}\b/g,
  // Statuses, and what was tried how often and how long.
  /\b(?:http(?:\/[\d.]+)?|status(?: code)?|(?:error )?code|errno|returned|error)[ :=(]{1,3}[1-5]\d\d\b(?: (?:bad request|ok|not found|unprocessable \w+|payload too large|internal server error|bad gateway))?|\b[45]\d\d (?:bad request|not found|unprocessable \w+|payload too large|internal server error|bad gateway)\b/gi,
  /\b(?:after |in )?\d+ (?:retr(?:y|ies)|attempts?|tr(?:y|ies)|times?)\b|\b(?:max )?(?:retr(?:y|ied|ies)|attempts?|tries)[ :=]{1,3}\d+(?: (?:of|\/) ?\d+| times?)?\b/gi,
  /\b(?:elapsed|took|in|after) [\d.]+ ?(?:ms|s|seconds?|minutes?)\b/gi,
]
