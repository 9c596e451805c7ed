/**
 * What a phrase tells of the sentence that it stands in.
 *
 * `rule`: an order that holds for good; `ever`: how often, which in a statement is told and in an order ruled; `duty`:
 * what has to be; `order`: what may be a rule, an imperative of how to go about things; `wish`: what is wanted or
 * needed; `refusal`: what is not; `limit`: how far, or what alone; `standing`: for how long or when it holds; `choice`:
 * what was decided; `preference`: what is liked better; `correction`: what was said before no longer holds;
 * `agreement`: yes or no to what was asked; `fact`: what the user or the work is; `speech`: it is about how to answer;
 * `request`: an errand that is done when it is done; `question`: something is asked; `telling`: something that happened
 * is told. By `subject`, what statements begin with, and `plain` words the language is told.
 */
export type FormKind =
  | 'rule'
  | 'ever'
  | 'duty'
  | 'order'
  | 'wish'
  | 'refusal'
  | 'limit'
  | 'standing'
  | 'choice'
  | 'preference'
  | 'correction'
  | 'agreement'
  | 'fact'
  | 'speech'
  | 'request'
  | 'question'
  | 'telling'
  | 'subject'
  | 'plain'

/**
 * Phrases of one kind in one language, with commas between. `^` before a phrase: only where a clause begins; `$` behind
 * it: only where one ends; `*` at the end or the beginning of a word: any ending or beginning.
 */
export type Form = {
  readonly kind: FormKind
  /** ISO 639-1. */
  readonly language: string
  readonly phrases: string
  /** A sentence of this kind that holds one of the phrases. */
  readonly sample: string
}
