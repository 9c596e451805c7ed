import type { Dice } from '../../../../src/demo/dice.ts'
import { sentence, write, type Lexicon, type Words } from './grammar.ts'
import { pastedText } from './pasted.ts'
import { prose } from './prose.ts'
import { lexiconOf, type Topic } from './topics.ts'

/** What a user says in an ordinary turn, of 4 to about 250 words: nothing that has to hold beyond the next answer. */
export function userTurn(topic: Topic, dice: Dice): string {
  const lexicon = lexiconOf(topic)
  switch (dice.pick(kinds)) {
    case 'question':
      return casual(line(questions, lexicon, dice), dice)
    case 'follow-up':
      return casual(`${line(openers, lexicon, dice)} ${line(questions, lexicon, dice)}`, dice)
    case 'request':
      return `${line(requests, lexicon, dice)} ${prose(topic, dice.below(30), dice)}`.trim()
    case 'description':
      return `${prose(topic, 25 + dice.below(60), dice)} ${line(questions, lexicon, dice)}`
    case 'story':
      return [
        prose(topic, 50 + dice.below(50), dice),
        `${prose(topic, 40 + dice.below(90), dice)} ${line(questions, lexicon, dice)}`,
      ].join('\n\n')
    case 'pasted':
      return `${line(pastedLeads, lexicon, dice)}\n\n${pastedText(topic, dice)}`
    case 'pasted-and-told':
      return `${prose(topic, 20 + dice.below(40), dice)}\n\n${pastedText(topic, dice)}\n\n${line(questions, lexicon, dice)}`
  }
}

// --- internal ---

type Kind = 'question' | 'follow-up' | 'request' | 'description' | 'story' | 'pasted' | 'pasted-and-told'

/** As often as people do so; what is pasted makes up most of the text. */
const kinds: readonly [Kind, ...Kind[]] = [
  'question',
  'question',
  'question',
  'follow-up',
  'follow-up',
  'follow-up',
  'request',
  'request',
  'description',
  'description',
  'description',
  'story',
  'story',
  'pasted',
  'pasted-and-told',
  'pasted-and-told',
]

function line(templates: Words, lexicon: Lexicon, dice: Dice): string {
  return sentence(write(dice.pick(templates), lexicon, dice))
}

/** Some people type small letters and no mark at the end. */
function casual(text: string, dice: Dice): string {
  return dice.below(3) === 0 ? text.toLowerCase().replace(/[?.]$/, '') : text
}

const questions: Words = [
  'any idea why {thing} {fault}?',
  'what is the difference between {thing} and {thing}?',
  'can you explain how {thing} depends on {part}?',
  'how long does it take to {act}?',
  'is {quality} good enough for {thing}?',
  'what happens to {part} when {cause}?',
  'how do I {act}?',
  'should I worry that {cause}?',
  'does it matter that {thing} {fault} on {weekday}?',
  'what does {part} have to do with {thing}?',
  'could it be that {cause}?',
  'would it help to {act} first?',
  'is it normal that {thing} {fault}?',
  'why is {thing} {quality} in {month} and {quality} in {month}?',
  'how would {person} go about it?',
  'which comes first, to {act} or to {act}?',
  'how many times can one {act} before {part} suffers?',
  'what did you mean by {quality}?',
  'is there a way to {act} without {part}?',
  'what would you look at next, {part} or {part}?',
  'do you know whether {thing} can be {quality}?',
  'where does {part} come in?',
  'is it true that {cause}?',
  'what else {fault} like this?',
]

const openers: Words = [
  'thanks, that helps.',
  'ah, I see.',
  'great, that worked for {thing}.',
  'hm, I tried that, and {thing} still {fault}.',
  'interesting.',
  'thank you!',
  'ok, {part} makes sense now.',
  'that is what {person} said, too.',
  'cool, one more thing about {part}.',
  'it took me {few} minutes, but {thing} is {quality} now.',
  'right, {cause}.',
  'sorry for the late reply.',
  'good point about {part}.',
]

const requests: Words = [
  'write me a function that can {act}.',
  'can you draft {goal} about {thing}?',
  'show me an example with {thing} and {part}.',
  'sum up what you said about {part} in two sentences.',
  'make a table of {part} and {part} for the last {few} days.',
  'help me word {goal}, {person} asked for it.',
  'turn this into {goal}.',
  'could you compare {thing} with {thing} for me?',
  'please check what I wrote about {thing} below.',
  'give me {few} ideas how to {act}.',
  'rewrite {goal} so that {part} comes first.',
  'walk me through how to {act}.',
]

const pastedLeads: Words = [
  'this is what I get when I {act}, why does it fail?',
  'here is the output, {thing} {fault}:',
  'what does this tell you about {part}?',
  'I found this next to {thing}:',
  '{person} sent me this, can you make sense of it?',
  'that is the whole of it, from {clock} on:',
]
