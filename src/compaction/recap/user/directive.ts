import type { FormKind } from './forms/forms.ts'
import { formsIn, type Languages } from './forms/match.ts'
import { wordCount } from './forms/words.ts'

/** How much a sentence of the user's looks like something that is to hold later on. */
export type Directive = {
  /** From about -6, a question about the world, to about 9, a rule. */
  readonly score: number
  /** Whether it says that what was said before no longer holds. */
  readonly isCorrection: boolean
  /** Whether it tells of something that happened. */
  readonly isTold: boolean
  /** Whether it asks something, or for an errand. */
  readonly isAsking: boolean
}

/** From here on a sentence is taken for a directive. */
export const DIRECTIVE_SCORE = 3.5

/**
 * Judges a sentence by its form, never by what it is about: phrases of rule, refusal, choice and the like
 * (forms/), and what any language shows, which helps where no phrase is known: that it asks nothing, that it is short.
 * `around`: the languages of the text that it stands in.
 */
export function directiveOf(sentence: string, around?: Languages): Directive {
  const { kinds, stated } = formsIn(sentence, around)
  const weights = [...kinds].map((kind): [FormKind, number] => [
    kind,
    weightOf[kind] * (toldAsWell.has(kind) && (stated.has(kind) || kinds.has('telling')) ? STATED_SHARE : 1),
  ])
  const holding = weights.filter(([, weight]) => weight > 0).sort(([, a], [, b]) => b - a)
  const [strongest = null] = holding
  const isRuling = strongest !== null && strongest[1] >= RULING
  const isDecided = (isRuling && decided.has(strongest[0])) || kinds.has('correction')
  const told = !kinds.has('telling') ? 0 : isDecided ? TOLD_BESIDE : TOLD
  const words = wordCount(sentence)
  const asked = askedIn(sentence, kinds, isRuling)
  const score =
    holding
      .slice(0, shares.length)
      .reduce((sum, [, weight], place) => sum + weight * (shares[place] ?? 0), 0) +
    asked +
    told +
    (asked === 0 ? ASKS_NOTHING : 0) +
    (words < WORDS_MIN ? TOO_SHORT : words <= WORDS_SHORT ? SHORT : 0) -
    Math.max(0, words - WORDS_LONG) * A_WORD_TOO_MANY
  return {
    score,
    isCorrection: kinds.has('correction'),
    isTold: kinds.has('telling'),
    isAsking: asked < 0,
  }
}

// --- internal ---

/** What phrases of a kind tell. */
const weightOf = {
  rule: 4,
  ever: 4,
  refusal: 3.5,
  standing: 3,
  choice: 3,
  preference: 3,
  duty: 3,
  order: 2.5,
  correction: 2.5,
  limit: 2,
  wish: 1.5,
  fact: 1.5,
  agreement: 1,
  speech: 1,
  request: 0,
  question: 0,
  telling: 0,
  subject: 0,
  plain: 0,
} as const satisfies Record<FormKind, number>

/** The strongest phrase counts whole, the next ones less: a long sentence holds many by chance. */
const shares = [1, 0.5, 0.25]

/** What is said of what happens as often as of what is to happen; in a statement it counts by its share. */
const toldAsWell: ReadonlySet<FormKind> = new Set<FormKind>(['ever', 'limit', 'standing'])
const STATED_SHARE = 0.5

/** What is told may be a decision all the same: "we have settled on green". */
const decided: ReadonlySet<FormKind> = new Set<FormKind>([
  'choice',
  'preference',
  'correction',
  'rule',
  'refusal',
])
const TOLD = -3
const TOLD_BESIDE = -1

/** What weighs this much by itself is a rule. */
const RULING = 3

const WORDS_MIN = 3
const WORDS_SHORT = 25
const WORDS_LONG = 30
const SHORT = 0.5
const TOO_SHORT = -0.5
const A_WORD_TOO_MANY = 0.06

const ASKS_NOTHING = 1
const ASKS_WHAT = -5
const ASKS = -3
const ERRAND = -2.5
/** Begins like a question and has no question mark: many write none. */
const ASKS_MAYBE = -2
/** "Could you please never use tabs?" is a rule all the same. */
const POLITE_SHARE = 0.2

const END_CHARS = 8
const questionEnd = /[?？؟;][!?"'”’»)\]*_\s]*$/

/** What counts against a sentence because it asks for something, or asks it to be done now. */
function askedIn(sentence: string, kinds: ReadonlySet<FormKind>, isRuling: boolean): number {
  const begins = kinds.has('question')
  if (questionEnd.test(sentence.slice(-END_CHARS))) {
    if (begins) return ASKS_WHAT
    const errand = kinds.has('request') ? ERRAND : 0
    return (ASKS + errand) * (isRuling ? POLITE_SHARE : 1)
  }
  const errand = kinds.has('request') ? ERRAND : begins ? ASKS_MAYBE : 0
  return errand * (isRuling ? POLITE_SHARE : 1)
}
