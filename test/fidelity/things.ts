/**
 * The specific things that a text names: paths and addresses, ids, numbers of three or more digits, e-mail addresses,
 * identifiers with inner capitals, underscores or dots. Written apart from the product's own list, so that the
 * recap is not measured by the rule that made it.
 */
export function thingsOf(text: string): ReadonlySet<string> {
  const things = new Set<string>()
  for (const [word] of text.matchAll(token)) {
    // Longer ones are data: a line of base64, a minified script.
    if (word.length > THING_CHARS_MAX) continue
    const bare = word.replace(/^[.@#~+-]+(?=\w)/, '').replace(/[.@#~+/-]+$/, '')
    if (kinds.some((kind) => kind.test(bare))) things.add(bare)
  }
  return things
}

// --- internal ---

const THING_CHARS_MAX = 200

/** What stands between blanks, quotes, brackets and the punctuation that no name has inside. */
const token = /[\w./@~+#$-]+/g

const path = /\w\/\w|^\/\w/
const email = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/
const number = /^\d[\d.]*$/
const id = /\d{3}|^(?=.*\d)(?=.*[a-f])[\da-f]{7,}$|\d-\d/i
const innerCapital = /[a-z][A-Z]/
const underscore = /[a-z\d]_+[a-z\d]/i
const dot = /[a-z_][\w-]*\.[a-z_]/i

const threeDigits = (token: string) => token.replaceAll('.', '').length >= 3

const kinds = [
  { test: (token: string) => path.test(token) },
  { test: (token: string) => email.test(token) },
  { test: (token: string) => number.test(token) && threeDigits(token) },
  id,
  innerCapital,
  underscore,
  dot,
]
