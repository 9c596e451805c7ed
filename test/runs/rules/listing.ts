import type { Dice } from '../../../src/demo/dice.ts'
import type { Option, Scenario } from './phrasing.ts'

/** The options as an assistant lists them, and the one that will be picked. */
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

// --- internal ---

const closings = [
  'Which of these appeals to you?',
  'What do you think?',
  'Tell me which way you lean.',
  'I can go into any of them in more depth.',
] as const
