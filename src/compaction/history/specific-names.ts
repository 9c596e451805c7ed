/** Something specific that a text names, with where it stands. */
export type Thing = { readonly name: string; readonly start: number; readonly end: number }

/**
 * The specific things that a text names: addresses, paths, e-mail addresses, ids, numbers of three or more
 * digits, and identifiers with inner capitals, underscores or dots. They are what a later step cannot
 * guess again once the text is gone.
 */
export function* thingsIn(text: string): Generator<Thing, void, void> {
  for (const thing of thingsInSteps(text)) if (thing !== null) yield thing
}

/** The same for a text that may be long: null where its reader is to pause. */
export function* thingsInSteps(text: string): Generator<Thing | null, void, void> {
  let words = 0
  for (const match of text.matchAll(word)) {
    words += 1
    if (words % WORDS_PER_STEP === 0) yield null
    if (!mayBeSpecific.test(match[0])) continue
    const lead = leadingPunctuation.exec(match[0])?.[0].length ?? 0
    const name = match[0].slice(lead).replace(trailingPunctuation, '')
    const start = match.index + lead
    // A word that fills the bound is data, not a name: a line of base64, a minified script.
    if (match[0].length < WORD_CHARS_MAX && isSpecific(name)) yield { name, start, end: start + name.length }
  }
}

/**
 * Whether a name says nothing even beside what it was named with: an address or an id needs the words around
 * it, a path, an identifier and the number of a line do not.
 */
export function needsWords(name: string): boolean {
  return /\w@\w/.test(name) || (/\d.*\d.*\d/.test(name) && /[a-z]/i.test(name) && !/[/._]/.test(name))
}

/** A path from its root: nobody can guess it again. */
export function isWholePath(name: string): boolean {
  return /^\/.+\/.+\//.test(name)
}

/** A whole path, an e-mail address, or what digits and letters make: an id. A time of day has one letter at most. */
export function isUnguessable(name: string): boolean {
  const isId = /\d.*\d.*\d/.test(name) && /[a-z].*[a-z]/i.test(name) && !/[/.]/.test(name)
  return isId || isWholePath(name) || /\w@\w/.test(name)
}

// --- internal ---

/** Words between two pauses: about a millisecond. */
const WORDS_PER_STEP = 2_000

const WORD_CHARS_MAX = 200

/**
 * An address, or a run of the characters that names are made of and that is no closing tag. Neither alternative looks beyond what it
 * consumes, so that the search stays linear in whatever text it is given.
 */
const word = /https?:\/\/[^\s"'<>\\]{1,400}|(?<!<(?=\/))[\w$@~.+#/-]{3,200}/g

/** What every specific name has one of: most words have none, and need no closer look. */
const mayBeSpecific = /[\d/@._$]|[a-z][A-Z]/

const leadingPunctuation = /^(?:(?:\.\/)+|[.@+#-]+(?=[^./]))/
const trailingPunctuation = /[.@+#/-]+$/

function isSpecific(name: string): boolean {
  // Lines and columns are told with what was done to them: `sed -n 330,360p`.
  if (name.length < 3 || /^\d+[a-z]$/i.test(name)) return false
  if (name.includes('/')) return /\w\/|\/\w/.test(name) && name.length > 3
  if (name.includes('@')) return /\w@\w[\w-]*\.\w/.test(name)
  return /\d[^\d]{0,2}\d[^\d]{0,2}\d/.test(name) || /\w[._$]\w/.test(name) || /[a-z][A-Z]/.test(name)
}
