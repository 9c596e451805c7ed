import words from './words.json' with { type: 'json' }

/*
 * The words of the general form, from words.json: phrases in which `*` stands for the rest of a word, `(a|b)` for one of two and
 * `{prompt}` for any of a list. They are searched for in a text of bounded length, and every gap is bounded, so that a hostile text
 * costs little.
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
  const isOfTokens = compared.test(said) || (ofRequest.test(said) && /\btokens?\b/i.test(said))
  return isOfTokens && comparedWith.test(said)
}

/**
 * Whether a limit of time, of money or of the reply is named as the cause, in whichever sentence: as one that something goes
 * beyond. What only says how much of it there is names no cause.
 */
export function namesOtherCause(said: string): boolean {
  const isOfReply = ofOutput.test(said) && !ofPrompt.test(said) && !ofContext.test(said)
  return ofTime.test(said) || ((ofMeans.test(said) || isOfReply) && usedUp.test(said))
}

/** Whether words are about another limit than a prompt's: of time, money, output, bytes, characters, counts of things. */
export function isOfOtherLimit(said: string): boolean {
  if (isOfOtherUnit(said)) return true
  if (ofOutput.test(said) && !ofPrompt.test(said)) return true
  return asides.test(said) && !ofContext.test(said)
}

/** Whether words are about who asks, and not about what is asked: how often, for how much, with which key, and what for. */
export function isOfCaller(said: string): boolean {
  return ofCaller.test(said)
}

/** Whether words speak of what an overflow never speaks of. */
export function isOfOtherUnit(said: string): boolean {
  return isOfCaller(said) || otherUnits.test(said)
}

// --- internal ---

const lists: Readonly<Record<string, readonly string[]>> = words.lists

/** Any of these phrases. A word begins and ends where a phrase does, unless a `*` stands there. */
function anyOf(phrases: readonly string[]): string {
  return `(?:${phrases.map(sourceOf).join('|')})`
}

function sourceOf(phrase: string): string {
  const begins = /^(?:[a-z_]|\((?!\?))/i.test(phrase) ? String.raw`\b` : ''
  const ends =
    /[a-z\d_)?]$/i.test(phrase) && !/\(\?[^()]*(?:\([^()]*\)[^()]*)*\)$/.test(phrase) ? String.raw`\b` : ''
  const source = phrase
    .replaceAll('*', String.raw`\w*`)
    .replaceAll(/\((?!\?)/g, '(?:')
    .replaceAll(/\{([a-z]+)\}/gi, (_, list: string) => anyOf(lists[list] ?? []))
  return begins + source + ends
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

const { request, limit, beyond } = words.lists

const overflowing: readonly RegExp[] = [
  ...words.pairs.map(({ of, is, within }) => near(of, is, within)),
  searchFor(...words.phrases),
  // Words of these languages may stand within others.
  ...words.languages.map(
    ({ first, within, then }) => new RegExp(`(?:${first}).{0,${within}}?(?:${then})`, 'i'),
  ),
]

const requestBeyond = near(request, beyond)
const tokensAndLimit = near(['tokens?'], [...limit, ...beyond])
const compared = searchFor('{prompt}', 'context', '{context}', '*n_tokens*')
const ofRequest = searchFor(...request)
const comparedWith = searchFor(...words.lists.compared, ...limit, ...beyond)
const ofContext = searchFor(
  '{context}',
  ...'上下文 コンテキスト 컨텍스트 *kontext* *contexte* *contexto* контекст'.split(' '),
)
const ofPrompt = searchFor('{prompt}', '{request}.{0,80}?tokens*')
const ofOutput = searchFor(...words.lists.output)
const ofTime = searchFor(...words.lists.time)
const ofMeans = searchFor(...words.lists.means)
const usedUp = searchFor(...words.lists.usedUp, ...beyond)
const asides = searchFor(...words.lists.asides)
const ofCaller = searchFor(...words.lists.caller)
const otherUnits = searchFor(...Object.values(words.otherUnits).flat())
