import type { Dice } from '../../../src/demo/dice.ts'
import { pastedText, prose, userTurn, type Topic } from './filler.ts'

/** Where in a message a rule stands: as a message of its own, or before, between or after other things. */
export const places = ['alone', 'first', 'middle', 'last'] as const
export type Place = (typeof places)[number]

/** A user message that says a rule. */
export type SpokenRule = {
  readonly content: string
  /** The rule's words in it, exactly. */
  readonly says: string
  readonly place: Place
}

type Occasion = {
  readonly language: string
  readonly topic: Topic
  readonly dice: Dice
  /** Whether it answers what the assistant said just before. */
  readonly isReply: boolean
}

/** Says a rule as people do: alone or beside other things, sometimes carelessly. */
export function speak(written: string, occasion: Occasion): SpokenRule {
  const { dice } = occasion
  const says = inManner(written, occasion)
  const place = dice.pick(occasion.isReply ? placesOfReplies : placesOfRules)
  const after = isEnded(says) && dice.below(2) === 0 ? ' ' : dice.pick(['\n', '\n\n'])
  switch (place) {
    case 'alone':
      return { content: says, says, place }
    case 'first':
      return { content: `${says}${after}${otherThings(occasion)}`, says, place }
    case 'middle':
      return { content: `${lead(occasion)}${says}${after}${otherThings(occasion)}`, says, place }
    case 'last':
      return { content: `${otherThings(occasion)}\n\n${says}`, says, place }
  }
}

// --- internal ---

const placesOfRules: readonly [Place, ...Place[]] = ['alone', 'alone', 'first', 'middle', 'last']

/** Nobody hides an answer between two other things. */
const placesOfReplies: readonly [Place, ...Place[]] = [
  'alone',
  ...Array<Place>(3).fill('alone'),
  'first',
  'first',
  'last',
]

const END_MARK = /[.!?。！？।]$/

function isEnded(text: string): boolean {
  return END_MARK.test(text)
}

/** As it was written, without its last mark, in small letters, or with two letters the wrong way round. */
function inManner(written: string, { language, dice }: Occasion): string {
  const roll = dice.below(100)
  if (roll < 60) return written
  if (roll < 80 || language !== 'en') return written.replace(END_MARK, '')
  if (roll < 93) return written.toLowerCase().replace(END_MARK, '')
  return withTypo(written, dice)
}

/** Two neighbouring letters of one longer word change places; the text as it is where no word is long enough. */
function withTypo(text: string, dice: Dice): string {
  const words = [...text.matchAll(/[a-z]{5,}/g)]
  const word = words[dice.below(Math.max(1, words.length))]
  if (word === undefined) return text
  const at = word.index + 1 + dice.below(word[0].length - 2)
  return `${text.slice(0, at)}${text.charAt(at + 1)}${text.charAt(at)}${text.slice(at + 2)}`
}

/** What comes before a rule in the middle of a message, with what parts them. */
function lead({ language, topic, dice }: Occasion): string {
  if (language !== 'en') return `${pastedText(topic, dice)}\n\n`
  const told = prose(topic, 15 + dice.below(60), dice)
  return `${told}${dice.pick([' ', ' ', '\n\n'])}`
}

/** Who writes in another language than the chat's is given no English sentences. */
function otherThings({ language, topic, dice }: Occasion): string {
  return language === 'en' ? userTurn(topic, dice) : pastedText(topic, dice)
}
