import type { Dice } from '../../../../src/demo/dice.ts'
import { sentence, write, type Words } from './grammar.ts'
import { lexiconOf, type Topic } from './topics.ts'

/** Sentences that tell of something, at least so many words of them. */
export function prose(topic: Topic, wordsMin: number, dice: Dice): string {
  const lexicon = lexiconOf(topic)
  const sentences: string[] = []
  let words = 0
  while (words < wordsMin) {
    const next = `${sentence(write(dice.pick(tellings) + dice.pick(tails), lexicon, dice))}.`
    sentences.push(next)
    words += next.split(' ').length
  }
  return sentences.join(' ')
}

// --- internal ---

/** Ordinary tellings, in which words such as only, never and must describe what was or is. */
const tellings: Words = [
  '{person} told me on {weekday} that {cause}',
  'we tried to {act}, and after {few} minutes {thing} was {quality} again',
  'back in {month} {thing} was {quality}',
  '{thing} only {fault} when {cause}',
  'it must have been {clock} when {person} noticed that {cause}',
  '{thing} has never been {quality}',
  'I had to {act} before anyone could look at {part}',
  'out of {many} only {few} were {quality}',
  'I think that {cause}',
  '{part} looks {quality} to me',
  'the week before, {thing} and {part} were both {quality}',
  'nobody had thought of {part}',
  'when I {act}, {thing} {fault}',
  '{person} would {act}, but {cause}',
  'my guess was that {cause}, which turned out {quality}',
  'at first {part} seemed {quality}',
  'what surprised me is that {thing} {fault}',
  'the funny thing is that {part} was always {quality} in {month}',
  'I read somewhere that {cause}',
  'since {weekday} {thing} {fault} about {few} times a day',
  'it went from {few} to {few} within {few} days',
  '{person} never said a word about {part}',
  'I did {act} twice',
  'there were {few} of them, and {thing} was the only {quality} one',
  'the last time I looked, {part} was {quality}',
  'for me {thing} is more {quality} than {thing}',
  'apparently one can {act} while {cause}',
  'I spent all of {weekday} with {part}',
]

const tails: Words = [
  '',
  '',
  '',
  ', at least since {weekday}',
  ', though {person} disagrees',
  ', and then {part} changed',
  ', as far as I can see',
  ' after about {few} minutes',
  ', which is odd because {cause}',
  ', or so {person} thinks',
  ', just like {thing} in {month}',
  ', and it was {quality}',
]
