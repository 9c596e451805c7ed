import type { FormKind } from './forms/form.ts'
import { kindsIn, wordCount } from './forms/match.ts'

/** How much a sentence of the user's looks like something that is to hold later on. */
export type Directive = {
  /** From about -6, a question about the world, to about 9, a rule. */
  readonly score: number
  /** Whether it says that what was said before no longer holds. */
  readonly isCorrection: boolean
  /** Whether it agrees, or chooses: then it says little without what it answers. */
  readonly isAnswer: boolean
}

/** From here on a sentence is taken for a directive. */
export const DIRECTIVE_SCORE = 3.5

/**
 * Judges a sentence by its form, never by what it is about: phrases of rule, refusal, choice and the like
 * (forms/), and what any language shows, which helps where no phrase is known: that it asks nothing, that it is short.
 */
export function directiveOf(sentence: string): Directive {
  const kinds = kindsIn(sentence)
  const said = [...kinds].map((kind): number => weightOf[kind])
  const holding = said.filter((weight) => weight > 0).sort((a, b) => b - a)
  const strongest = holding[0] ?? 0
  const isQuestion = questionEnd.test(sentence.slice(-END_CHARS))
  const asks = isQuestion
    ? kinds.has('question')
      ? ASKS_WHAT
      : ASKS
    : kinds.has('question')
      ? ASKS_MAYBE
      : 0
  const errand = kinds.has('request') ? weightOf.request : 0
  // "Could you please never use tabs?" is a rule all the same.
  const against = (asks + errand) * (strongest >= RULING && !kinds.has('question') ? POLITE_SHARE : 1)
  const words = wordCount(sentence)
  const score =
    holding.slice(0, shares.length).reduce((sum, weight, place) => sum + weight * (shares[place] ?? 0), 0) +
    against +
    (kinds.has('telling') ? weightOf.telling : 0) +
    (asks === 0 ? ASKS_NOTHING : 0) +
    (words >= WORDS_MIN && words <= WORDS_SHORT ? SHORT : 0) -
    Math.max(0, words - WORDS_LONG) * A_WORD_TOO_MANY -
    (words < WORDS_MIN ? TOO_SHORT : 0)
  return {
    score,
    isCorrection: kinds.has('correction'),
    isAnswer: kinds.has('agreement') || kinds.has('choice') || kinds.has('correction'),
  }
}

// --- internal ---

/** What phrases of a kind tell. */
const weightOf = {
  rule: 4,
  refusal: 3.5,
  standing: 3,
  choice: 3,
  preference: 3,
  order: 2.5,
  correction: 2.5,
  limit: 2,
  wish: 1.5,
  fact: 1.5,
  agreement: 1,
  speech: 1,
  telling: -1.5,
  request: -2.5,
  question: 0,
} as const satisfies Record<FormKind, number>

/** The strongest phrase counts whole, the next ones less: a long sentence holds many by chance. */
const shares = [1, 0.5, 0.25]

const ASKS = -3
const ASKS_WHAT = -5
/** Begins like a question and has no question mark: many write none. */
const ASKS_MAYBE = -2
const ASKS_NOTHING = 1

/** What counts against a sentence does so by this share only where it is a rule in the dress of a question. */
const POLITE_SHARE = 0.3
const RULING = 3

const WORDS_MIN = 3
const WORDS_SHORT = 25
const WORDS_LONG = 30
const SHORT = 0.5
const TOO_SHORT = 0.5
const A_WORD_TOO_MANY = 0.06

const END_CHARS = 8
const questionEnd = /[?？؟;][!?"'”’»)\]*_\s]*$/
