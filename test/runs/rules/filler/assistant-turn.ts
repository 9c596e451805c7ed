import type { Dice } from '../../../../src/demo/dice.ts'
import { sentence, write, type Words } from './grammar.ts'
import { shownCode } from './pasted.ts'
import { lexiconOf, type Topic } from './topics.ts'

/** What an assistant answers, in 50 to 500 words: paragraphs, lists, steps, code. */
export function assistantTurn(topic: Topic, dice: Dice): string {
  const wordsAim = dice.pick([50, 50, 60, 70, 80, 100, 130, 180, 260, 360]) + dice.below(30)
  const blocks: string[] = []
  for (let words = 0; words < wordsAim; words = wordsIn(blocks)) {
    const kind = dice.below(8)
    if (kind < 5 || blocks.length === 0) blocks.push(paragraph(topic, Math.min(80, wordsAim), dice))
    else if (kind < 7) blocks.push(list(topic, dice))
    else blocks.push(topic.pastes.includes('source') ? shownCode(dice) : list(topic, dice))
  }
  return blocks.join('\n\n')
}

/** One paragraph of explanation, of at least half so many words. */
export function paragraph(topic: Topic, wordsMost: number, dice: Dice): string {
  const lexicon = lexiconOf(topic)
  const sentences: string[] = []
  const aim = wordsMost / 2 + dice.below(Math.ceil(wordsMost / 3))
  while (wordsIn(sentences) < aim) {
    const link = dice.below(3) === 0 ? dice.pick(links) : ''
    sentences.push(`${sentence(`${link}${write(dice.pick(explanations), lexicon, dice)}`)}.`)
  }
  return sentences.join(' ')
}

// --- internal ---

function wordsIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.split(/\s+/).length, 0)
}

function list(topic: Topic, dice: Dice): string {
  const lexicon = lexiconOf(topic)
  const lead = sentence(write(dice.pick(leads), lexicon, dice))
  const isNumbered = dice.below(2) === 0
  const items = Array.from({ length: 3 + dice.below(4) }, (_, index) => {
    const item = sentence(write(dice.pick(explanations), lexicon, dice))
    return `${isNumbered ? `${index + 1}.` : '-'} ${item}.`
  })
  return [lead, '', ...items].join('\n')
}

const links: Words = [
  'in practice ',
  'that said, ',
  'as a first step, ',
  'on the other hand, ',
  'besides, ',
  'in short, ',
  'from what you describe, ',
]

const leads: Words = [
  'a few things are worth a look:',
  'here is how {thing} usually behaves:',
  'three observations about {part}:',
  'the usual suspects when {cause}:',
  'this is roughly the order in which one would {act}:',
  'what we know so far about {thing}:',
]

const explanations: Words = [
  '{thing} {fault} because {cause}',
  'when {cause}, {part} is the first to suffer',
  'one way out is to {act} and then to {act}',
  '{part} tells more about {thing} than {part} does',
  'it is quite common that {thing} {fault} in {month}',
  'you can {act} as soon as {part} is {quality}',
  'a result that is {quality} points to {part}',
  'the numbers fit, {few} out of {many} is what one would expect when {cause}',
  'if {thing} {fault}, look at {part} before you {act}',
  '{person} may be right that {cause}',
  'what matters for {thing} is that {part} stays {quality}',
  'there is little harm in it, even if {cause}',
  '{thing} and {thing} share {part}, which explains why both look {quality}',
  'most people {act} in the belief that {cause}',
  'the effect shows after {few} minutes at the earliest',
  'to see whether {cause}, {act} on a {weekday} and compare',
  '{part} does not have to be {quality} for this to work',
  'only once {cause} does {thing} become {quality}',
  'that {thing} {fault} is a symptom, and {part} is the reason',
  'with {part} out of the way, {thing} turns {quality} again',
  'you could also {act}, which takes about {few} minutes',
  'the difference between {thing} and {thing} comes down to {part}',
  'after you {act}, {part} needs a moment',
  'whether {part} is {quality} or {quality} changes the picture',
  '{few} is a typical value for {part}, and {few} would be unusual',
  'it never hurts to {act}, although {cause} more often than not',
  'that would also explain why {part} was {quality} on {weekday}',
  'for {goal} it is enough to mention {part} and that {cause}',
]
