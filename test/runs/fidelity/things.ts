/**
 * The specific things that a text names: paths and addresses, ids, numbers of three or more digits, e-mail addresses,
 * identifiers with inner capitals, underscores or dots. Written apart from the product's own list, so that the
 * recap is not measured by the rule that made it.
 */
export function thingsOf(text: string): ReadonlySet<string> {
  const things = new Set<string>()
  for (const [token] of text.matchAll(nameLike)) {
    // Longer ones are data: a line of base64, a minified script.
    if (token.length > THING_CHARS_MAX) continue
    const name = token.replace(/^(?:\.\/)+|^[.@~+-]+(?=\w)/, '').replace(/[.@~+/-]+$/, '')
    if (kinds.some((kind) => kind.test(name))) things.add(name)
  }
  return things
}

// --- internal ---

const THING_CHARS_MAX = 200

/** What stands between blanks, quotes, brackets and the punctuation that no name has inside; closing tags are none. */
const nameLike = /(?<!<(?=\/))[\w./@~+-]+/g

/** Each is tried on a whole name. A single step of a path has four characters, or sed's `/d` would be one. */
const kinds: readonly RegExp[] = [
  // path or address
  /\w\/\w|^[~.]*\/[\w.-]{4,}/,
  // e-mail address
  /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/,
  // number
  /^(?:\d\.?){3,}$/,
  // id
  /\d{3}/,
  /^(?=.*\d)(?=.*[a-f])[\da-f]{7,}$/i,
  // inner capitals, underscores, dots
  /[a-z][A-Z]/,
  /[a-z\d]_+[a-z\d]/i,
  /[a-z_][\w-]*\.[a-z_]\w/i,
]
