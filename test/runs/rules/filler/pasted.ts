import type { Dice } from '../../../../src/demo/dice.ts'
import { sampleLog, sampleSource } from '../../../../src/demo/sample-text.ts'
import { write, type Words } from './grammar.ts'
import { prose } from './prose.ts'
import { lexiconOf, type Topic } from './topics.ts'

export type Paste = 'log' | 'source' | 'table' | 'trace' | 'settings' | 'mail'

/** What a user pastes who talks of this. */
export function pastedText(topic: Topic, dice: Dice): string {
  switch (dice.pick(topic.pastes)) {
    case 'log':
      return fenced(sampleLog(dice, 4 + dice.below(16)), dice)
    case 'source':
      return fenced(sampleSource(dice, 8 + dice.below(20)), dice)
    case 'table':
      return table(dice, 5 + dice.below(22))
    case 'trace':
      return fenced(stackTrace(dice, 4 + dice.below(10)), dice)
    case 'settings':
      return fenced(settings(dice, 5 + dice.below(14)), dice)
    case 'mail':
      return mail(topic, dice)
  }
}

/** Code as an assistant shows it. */
export function shownCode(dice: Dice): string {
  return `\`\`\`\n${sampleSource(dice, 8 + dice.below(18)).trimEnd()}\n\`\`\``
}

// --- internal ---

/** Not everybody fences what he pastes. */
function fenced(text: string, dice: Dice): string {
  return dice.below(3) === 0 ? text.trimEnd() : `\`\`\`\n${text.trimEnd()}\n\`\`\``
}

function table(dice: Dice, rows: number): string {
  const row = () =>
    [day(dice), dice.pick(names), dice.below(9000) / 100, dice.pick(states), dice.below(400)].join(';')
  return ['day;name;amount;state;count', ...Array.from({ length: rows }, row)].join('\n')
}

/** Somebody else's words, of which none are addressed to the assistant. */
function mail(topic: Topic, dice: Dice): string {
  const lexicon = lexiconOf(topic)
  const paragraphs = [
    dice.pick(['Hello,', 'Dear all,', 'Hi there,', 'Good morning,']),
    prose(topic, 30 + dice.below(60), dice),
    `${prose(topic, 20 + dice.below(50), dice)} ${write(dice.pick(mailClosings), lexicon, dice)}`,
    dice.pick(['Best wishes', 'Kind regards', 'Yours', 'See you soon']),
  ]
  return paragraphs.map((paragraph) => `> ${paragraph}`).join('\n>\n')
}

function stackTrace(dice: Dice, frames: number): string {
  const frame = () =>
    `    at ${dice.pick(names)}.${dice.pick(steps)} (${dice.pick(names)}/${dice.pick(steps)}.js:${1 + dice.below(900)}:${1 + dice.below(70)})`
  return [
    `${dice.pick(errors)} ${dice.pick(names)}_${dice.hex(4)}`,
    ...Array.from({ length: frames }, frame),
  ].join('\n')
}

function settings(dice: Dice, lines: number): string {
  const line = () => {
    const value = dice.pick([
      String(dice.below(5000)),
      `"${dice.pick(names)}-${dice.hex(3)}"`,
      dice.pick(['true', 'false']),
    ])
    return `  "${dice.pick(steps)}_${dice.pick(names)}": ${value},`
  }
  return ['{', ...Array.from({ length: lines }, line), '}'].join('\n')
}

function day(dice: Dice): string {
  return `2025-${String(1 + dice.below(12)).padStart(2, '0')}-${String(1 + dice.below(28)).padStart(2, '0')}`
}

const names = [
  'meadow',
  'harbour',
  'ticket',
  'parcel',
  'sensor',
  'tenant',
  'voucher',
  'lantern',
  'folder',
  'beacon',
  'basket',
  'ledger',
  'signal',
  'ribbon',
] as const
const steps = [
  'open',
  'parse',
  'flush',
  'render',
  'collect',
  'resolve',
  'attach',
  'publish',
  'measure',
  'compare',
  'rewind',
] as const
const states = ['open', 'paid', 'late', 'void', 'new'] as const
const errors = [
  'TypeError: cannot read',
  'Error: no such',
  'RangeError: too many',
  'TimeoutError: waited for',
  'KeyError:',
] as const
const mailClosings: Words = [
  'Let us know by {weekday} whether that suits you.',
  'Could you have a look at {part} until {weekday}?',
  'Thanks again for {goal}.',
  'We will be in touch in {month}.',
  'Please bring {few} copies.',
]
