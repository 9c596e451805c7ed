import { withoutMarks } from './sentences.ts'

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
 * it never had been. Written as a loop because the text is a stranger's and its cost must be linear.
 */
export function plainText(text: string): string {
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
