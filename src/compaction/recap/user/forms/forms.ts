import rows from './phrases.json' with { type: 'json' }

/**
 * What phrases may tell of the sentence that it stands in.
 *
 * `rule`: an order that holds for good; `ever`: how often, which in a statement is told and in an order ruled; `duty`:
 * what has to be; `order`: what may be a rule, an imperative of how to go about things; `wish`: what is wanted or
 * needed; `refusal`: what is not; `limit`: how far, or what alone; `standing`: for how long or when it holds; `choice`:
 * what was decided; `preference`: what is liked better; `correction`: what was said before no longer holds;
 * `agreement`: yes or no to what was asked; `fact`: what the user or the work is; `speech`: it is about how to answer;
 * `request`: an errand that is done when it is done; `question`: something is asked; `telling`: something that happened
 * is told. By `subject`, what statements begin with, and `plain` words the language is told.
 */
export const formKinds = [
  'ever',
  'duty',
  'subject',
  'plain',
  'rule',
  'order',
  'wish',
  'refusal',
  'limit',
  'standing',
  'choice',
  'preference',
  'correction',
  'agreement',
  'fact',
  'speech',
  'request',
  'question',
  'telling',
] as const

export type FormKind = (typeof formKinds)[number]

/** How a language (ISO 639-1) says something of one kind. */
type Form = {
  readonly language: string
  readonly kind: FormKind
  /** A sentence of this kind that holds one of the phrases. */
  readonly sample: string
  /**
   * `^` before a phrase: it counts only where a clause begins; `$` behind it: only where one ends; `*` at the end or the
   * beginning of a word: any ending or beginning. "^use *" finds "Use tabs", and not "they use tabs".
   */
  readonly phrases: readonly string[]
}

/** The columns of a row in a table. */
export function columnsOf(row: string): string[] {
  return row.split(' | ')
}

/**
 * All that is known of how people say that something is to hold, in the languages that `npm run rules` asks for: a row
 * for each language and kind, a sample and then phrases.
 */
export const forms: readonly Form[] = Object.entries(rows).map(([name, row]) => {
  const [language = ''] = name.split(' ', 1)
  const kind = formKinds.find((one) => name === `${language} ${one}`)
  if (kind === undefined) throw new Error(`phrases.json: ${name} is not a language and a kind`)
  const [sample = '', ...phrases] = columnsOf(row)
  return { language, kind, sample, phrases }
})

/** Languages in which words run together, or take their endings without a blank. */
export const unspacedLanguages: ReadonlySet<string> = new Set(['zh', 'ja', 'ko'])
