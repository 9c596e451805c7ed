import type { Steps } from '../../../conversation/source.ts'
import { formsIn, formWeights, languagesIn, type FormKind, type Languages } from './forms.ts'
import { sentencesOf, type Sentence } from './sentences.ts'
import { wordCount } from './words.ts'

/** From here on a sentence is taken for a directive. */
export const DIRECTIVE_SCORE = 3.5

/**
 * How much a sentence looks like something that is to hold, from about -6, a question about the world, to about 9, a rule.
 * It is judged by its form, never by what it is about: by phrases of rule, refusal, choice and the like, and by what any
 * language shows, where no phrase is known: that it asks nothing, that it is short. `around`: the languages of its text.
 */
export function directiveOf(sentence: string, around?: Languages) {
  const { kinds, stated } = formsIn(sentence, around)
  const isTold = kinds.has('telling')
  const holding = [...kinds]
    .map((kind) => ({
      kind,
      weight: formWeights[kind] * (toldAsWell.has(kind) && (stated.has(kind) || isTold) ? STATED_SHARE : 1),
    }))
    .sort((one, other) => other.weight - one.weight)
  const [strongest] = holding
  const isRuling = strongest !== undefined && strongest.weight >= RULING
  const isDecided = kinds.has('correction') || (isRuling && decided.has(strongest.kind))
  const asked = askedIn(sentence, kinds, isRuling)
  const words = wordCount(sentence)
  const score =
    phraseShares.reduce((sum, share, place) => sum + share * (holding[place]?.weight ?? 0), 0) +
    (asked === 0 ? weights.asksNothing : asked) +
    (!isTold ? 0 : isDecided ? weights.toldBeside : weights.told) +
    (words < 3 ? weights.tooShort : words <= 25 ? weights.short : 0) +
    Math.max(0, words - 30) * weights.wordTooMany
  return { score, isCorrection: kinds.has('correction'), isTold, isAsking: asked < 0 }
}

/** A sentence of a user's message, and what it looks like beside the others. */
export type Heard = Sentence & Omit<ReturnType<typeof directiveOf>, 'isTold'>

/** The sentences of a user's message, each judged: by itself, by the heading of its list, and by its paragraph. */
export function* heardIn(text: string): Steps<Heard[]> {
  const sentences = sentencesOf(text)
  const written = sentences.map(({ start, end }) => text.slice(start, end))
  const around = languagesIn(written.join('\n').slice(0, AROUND_CHARS))
  const judged: (Sentence & ReturnType<typeof directiveOf>)[] = []
  for (const [place, sentence] of sentences.entries()) {
    judged.push({ ...sentence, ...directiveOf(written[place] ?? '', around) })
    yield
  }
  const paragraphOf = ({ start }: Sentence) => text.lastIndexOf('\n', start)
  const paragraphs = Map.groupBy(judged, paragraphOf)
  let heading = 0
  return judged.map((sentence, place) => {
    const { start, end, score, isCorrection, isAsking } = sentence
    const begin = text.slice(start, start + EDGE_CHARS)
    const isItem = /^(?:[-*•–+]|\d{1,3}[.)])\s/.test(begin)
    if (!isItem) heading = /[:：]$/.test(text.slice(start, end)) ? Math.max(0, score) : 0
    const others = (paragraphs.get(paragraphOf(sentence)) ?? []).filter((other) => other !== sentence)
    const told = others.filter(({ isTold }) => isTold).length / Math.max(1, others.length)
    const neighbours = Math.max(0, judged[place - 1]?.score ?? 0, judged[place + 1]?.score ?? 0)
    const change =
      Math.max(isItem ? HEADING_SHARE * heading : 0, NEIGHBOUR_SHARE * neighbours) +
      (begin.startsWith('>') ? weights.quoted : 0) +
      (others.length < STORY_SENTENCES_MIN ? 0 : weights.story * told)
    return { start, end, isCorrection, isAsking, score: Math.round((score + change) * 100) / 100 }
  })
}

// --- internal ---

/** What counts for a sentence, and against it. */
const weights = {
  asksNothing: 1,
  asksWhat: -5,
  asks: -3,
  errand: -2.5,
  asksMaybe: -2, // begins like a question and has no question mark: many write none
  told: -3,
  toldBeside: -1, // what is told may be a decision all the same: "we have settled on green"
  tooShort: -0.5,
  short: 0.5,
  wordTooMany: -0.06,
  story: -1.5, // where all others of a paragraph tell a story
  quoted: -3, // a line that quotes somebody else
} as const

/** The strongest phrase counts whole, the next ones less: a long sentence holds many by chance. */
const phraseShares = [1, 0.5, 0.25]

/** What is said of what happens as often as of what is to happen; in a statement it counts by its share. */
const toldAsWell: ReadonlySet<FormKind> = new Set<FormKind>(['ever', 'limit', 'standing'])
const STATED_SHARE = 0.5

/** What decides something although it is told, where it weighs so much that it is a rule by itself. */
const decided: ReadonlySet<FormKind> = new Set<FormKind>(['choice', 'preference', 'rule', 'refusal'])
const RULING = 3

/** "Could you please never use tabs?" is a rule all the same. */
const POLITE_SHARE = 0.2

/** What a sentence gains by one beside it that looks like a directive, and in a list by the line above that. */
const NEIGHBOUR_SHARE = 0.25
const HEADING_SHARE = 0.5

const STORY_SENTENCES_MIN = 2

/** So much of a message tells its language. */
const AROUND_CHARS = 2000

/** Marks of a list, a quote and a question stand in the first or last characters. */
const EDGE_CHARS = 8

/** What counts against a sentence because it asks for something, or asks it to be done now. */
function askedIn(sentence: string, kinds: ReadonlySet<FormKind>, isRuling: boolean): number {
  const isMarked = /[?？؟;][!?"'”’»)\]*_\s]*$/.test(sentence.slice(-EDGE_CHARS))
  const begins = kinds.has('question')
  if (isMarked && begins) return weights.asksWhat
  const errand = kinds.has('request') ? weights.errand : begins ? weights.asksMaybe : 0
  return (errand + (isMarked ? weights.asks : 0)) * (isRuling ? POLITE_SHARE : 1)
}
