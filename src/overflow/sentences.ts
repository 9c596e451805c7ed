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

/**
 * A text without what identifies a request, a moment or a place: ids, traces, statuses, retries, addresses, dates, prices, and
 * every bracket without a size in it. Their numbers count no tokens, and their words are not about the request.
 */
export function withoutMarks(text: string): string {
  let words = text
    .replaceAll(angled, ' ')
    .replaceAll(bracket, (all, open: string, inside: string) => (speaksOfSize(open, inside) ? all : ' '))
  for (const mark of marks) words = words.replaceAll(mark, ' ')
  return words.replaceAll(/ {2,}/g, ' ')
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
