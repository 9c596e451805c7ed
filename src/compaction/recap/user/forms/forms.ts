import english from './english.json' with { type: 'json' }
import germanic from './germanic.json' with { type: 'json' }
import others from './others.json' with { type: 'json' }
import romance from './romance.json' with { type: 'json' }
import slavic from './slavic.json' with { type: 'json' }
import unspaced from './unspaced.json' with { type: 'json' }

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

/** How a language says something of one kind. */
export type Phrase = {
  /** A sentence of this kind that holds one of the phrases. */
  readonly sample: string
  /**
   * `^` before a phrase: it counts only where a clause begins; `$` behind it: only where one ends; `*` at the end or the
   * beginning of a word: any ending or beginning. "^use *" finds "Use tabs", and not "they use tabs".
   */
  readonly phrases: readonly string[]
}

type FormsByLanguage = Readonly<Record<string, Partial<Record<FormKind, Phrase>>>>

/** All that is known of how people say that something is to hold, by language (ISO 639-1). */
export const forms: FormsByLanguage = {
  ...english,
  ...germanic,
  ...romance,
  ...slavic,
  ...others,
  ...unspaced,
}

/** Languages in which words run together, or take their endings without a blank. */
export const unspacedLanguages: ReadonlySet<string> = new Set(Object.keys(unspaced))
