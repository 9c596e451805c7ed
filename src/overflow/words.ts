import words from './words.json' with { type: 'json' }

/*
 * What words speak of, by words.json: phrases in which `*` stands for the rest of a word, `(a|b)` for one of two and `{prompt}`
 * for any of a list. They are searched for in a text of bounded length, and every gap is bounded, so that a hostile text costs
 * little.
 */

/** Whether the words say that a prompt, a conversation or their tokens go beyond what a model takes. */
export function speaksOfLength(said: string): boolean {
  return (
    overflowing.some((pattern) => pattern.test(said)) ||
    // What these words mean depends on what they are about.
    (requestBeyond.test(said) && /\btokens?\b|\bmodel\b/i.test(said))
  )
}

/** Whether a limit of tokens is spoken of, be it the prompt's or another. */
export function speaksOfTokens(said: string): boolean {
  return tokensAndLimit.test(said)
}

/** Whether a prompt, a context or a request is held against a limit; two sizes beside it say which is too much. */
export function comparesSizes(said: string): boolean {
  const isOfTokens = compared.test(said) || (request.test(said) && /\btokens?\b/i.test(said))
  return isOfTokens && comparedWith.test(said)
}

/**
 * Whether a limit of time, of money or of the reply is named as the cause, in whichever sentence: as one that something goes
 * beyond. What only says how much of it there is names no cause.
 */
export function namesOtherCause(said: string): boolean {
  const isOfReply = output.test(said) && !prompt.test(said) && !context.test(said)
  return time.test(said) || ((means.test(said) || isOfReply) && usedUp.test(said))
}

/** Whether words are about another limit than a prompt's: of time, money, output, bytes, characters, counts of things. */
export function isOfOtherLimit(said: string): boolean {
  if (isOfOtherUnit(said)) return true
  if (output.test(said) && !prompt.test(said)) return true
  return asides.test(said) && !context.test(said)
}

/** Whether words are about who asks, and not about what is asked: how often, for how much, with which key, and what for. */
export function isOfCaller(said: string): boolean {
  return caller.test(said)
}

/** Whether words speak of what an overflow never speaks of. */
export function isOfOtherUnit(said: string): boolean {
  return isOfCaller(said) || otherUnits.test(said)
}

/**
 * Whether an error says that something is wrong with a request other than its length: an image that cannot be loaded, a
 * role, a tool, a model that is not there. Such refusals repeat what the client sent, perhaps without marking it, so that
 * nothing of their text may be taken for the server's word on lengths. Asked of the whole text, since who breaks out of a
 * quotation may break off the server's sentence.
 */
export function isFault(text: string): boolean {
  return faults.test(text.replaceAll(/\b[a-z]{1,10}:\/\/\S*/gi, ''))
}

// --- internal ---

const lists: Readonly<Record<string, readonly string[]>> = words.lists

/** Any of these phrases. A word begins and ends where a phrase does, unless a `*` stands there. */
function anyOf(phrases: readonly string[]): string {
  return `(?:${phrases.map(sourceOf).join('|')})`
}

function sourceOf(phrase: string): string {
  const begins = /^(?:[a-z_]|\((?!\?))/i.test(phrase)
  const endsAhead = /\(\?[^()]*(?:\([^()]*\)[^()]*)*\)$/.test(phrase)
  const ends = /[a-z\d_)?]$/i.test(phrase) && !endsAhead
  const source = phrase
    // Searched for from every character of a long run, the beginning of a word would cost its square.
    .replace(/^\*(.*?)\*?$/s, '$1')
    .replaceAll('*', String.raw`\w*`)
    .replaceAll(/\((?!\?)/g, '(?:')
    .replaceAll(/\{([a-z]+)\}/gi, (_, list: string) => anyOf(lists[list] ?? []))
  return `${begins ? String.raw`\b` : ''}${source}${ends ? String.raw`\b` : ''}`
}

function searchFor(...phrases: readonly string[]): RegExp {
  return new RegExp(anyOf(phrases), 'i')
}

/** The two within so many characters, in either order. */
function near(one: readonly string[], other: readonly string[], within = 80): RegExp {
  const gap = `.{0,${within}}?`
  const [first, second] = [anyOf(one), anyOf(other)]
  return new RegExp(`${first}${gap}${second}|${second}${gap}${first}`, 'i')
}

const overflowing: readonly RegExp[] = [
  ...words.pairs.map(({ of, is, within }) => near(of, is, within)),
  searchFor(...words.phrases),
  // Words of these languages may stand within others.
  ...words.languages.map(
    ({ first, within, then }) => new RegExp(`(?:${first}).{0,${within}}?(?:${then})`, 'i'),
  ),
]
const requestBeyond = near(['{request}'], ['{beyond}'])
const tokensAndLimit = near(['tokens?'], ['{limit}', '{beyond}'])
const compared = searchFor('{prompt}', 'context', '{context}', '*n_tokens*')
const comparedWith = searchFor('{compared}', '{limit}', '{beyond}')
const request = searchFor('{request}')
const prompt = searchFor('{prompt}', '{request}.{0,80}?tokens*')
const context = searchFor('{context}', '{contextElsewhere}')
const output = searchFor('{output}')
const time = searchFor('{time}')
const means = searchFor('{means}')
const usedUp = searchFor('{usedUp}', '{beyond}')
const asides = searchFor('{asides}')
const caller = searchFor('{caller}')
const otherUnits = searchFor(...Object.values(words.otherUnits).flat())
const faults = searchFor(...Object.values(words.faults).flat())
