import { readFileSync } from 'node:fs'
import { openDice, seedOf, type Dice } from '../../../src/commands/demo/dice.ts'

export const forms = [
  'prohibition',
  'obligation',
  'restriction',
  'preference',
  'choice',
  'correction',
  'agreement',
  'answer',
  'fact',
] as const
export type Form = (typeof forms)[number]

/** Known: may be looked at while the rules of recaps are written. Apart: may not. */
export const halves = ['known', 'apart'] as const
export type Half = (typeof halves)[number]

/** One rule or decision as a user words it, in one sentence as he would type it, with what was said before it. */
export type Phrasing = { readonly language: string; readonly says: string } & (
  | { readonly form: 'prohibition' | 'obligation' | 'restriction' | 'preference' | 'fact' }
  /** `{option}` is the name of the option at `picks`. */
  | { readonly form: 'choice'; readonly picks: 0 | 1 | 2 }
  | { readonly form: 'correction'; readonly old: string }
  | { readonly form: 'agreement' | 'answer'; readonly assistant: string }
)

/** Three ways out of something, of which the user takes one. */
export type Scenario = {
  readonly asked: string
  readonly lead: string
  readonly options: readonly [Option, Option, Option]
}

export type Option = { readonly name: string; readonly text: string }

export const phrasingsOf = (half: Half): readonly Phrasing[] =>
  linesOf(half).flatMap((line) => ('says' in line ? [line] : []))

export const scenariosOf = (half: Half): readonly Scenario[] =>
  linesOf(half).flatMap((line) => ('asked' in line ? [line] : []))

/**
 * Which of a half's phrasings the chat of this number is made with: one to four, none twice until all have been dealt.
 * A further chat changes nothing of those before it.
 */
export function deal<Dealt>(list: readonly Dealt[], seed: string, chatNumber: number): readonly Dealt[] {
  const dice = openDice(seedOf(`${seed} deal`))
  let deck: Dealt[] = []
  let hand: readonly Dealt[] = []
  for (let chat = 0; chat <= chatNumber; chat += 1) {
    const size = 1 + dice.below(HAND_MOST)
    // What is left of a deck that is too small stays undealt in this round, so that no chat has a phrasing twice.
    if (deck.length < size) deck = shuffled(list, dice)
    hand = deck.splice(0, size)
  }
  return hand
}

export function listingOf(
  { lead, options }: Scenario,
  { says, picks }: { readonly says: string; readonly picks: 0 | 1 | 2 },
  dice: Dice,
): { readonly text: string; readonly option: Option } {
  // Who answers with a letter was given letters.
  const isLettered = /\b[ABC]\b/.test(says) || dice.below(4) === 0
  const isBold = dice.below(2) === 0
  const lines = options.map(({ name, text }, index) => {
    const mark = isLettered ? `${'ABC'.charAt(index)})` : `${index + 1}.`
    return `${mark} ${isBold ? `**${name}**` : name}: ${text}.`
  })
  const closing = dice.pick(closings)
  return { text: [lead, '', ...lines, '', closing].join('\n'), option: options[picks] }
}

const HAND_MOST = 4

const closings = [
  'Which of these appeals to you?',
  'What do you think?',
  'Tell me which way you lean.',
  'I can go into any of them in more depth.',
] as const

type Line = Phrasing | Scenario | { readonly note: string }

const [known, apart] = halves.map((half): readonly Line[] => {
  const text = readFileSync(new URL(`${half}-phrasings.jsonl`, import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line): Line => JSON.parse(line))
})

const linesOf = (half: Half): readonly Line[] => ({ known, apart })[half] ?? []

function shuffled<Item>(items: readonly Item[], dice: Dice): Item[] {
  const left = [...items]
  return items.flatMap(() => left.splice(dice.below(left.length), 1))
}
