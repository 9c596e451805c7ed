import { readFileSync } from 'node:fs'
import type { Dice } from '../../../src/commands/demo/dice.ts'
import { sampleLog, sampleSource } from '../../../src/commands/demo/tools.ts'
import { times } from '../../support/times.ts'

/**
 * The words of one topic. `thing` and `part` come with their article, `act` is a bare verb with what belongs to it,
 * `fault` follows a thing, `cause` is a whole clause, `quality` an adjective, `person` somebody, `goal` something to
 * be written; with those that are of all topics.
 */
export type Topic = { readonly words: Lexicon; readonly pastes: Words }
const weekday = wordList('Monday Tuesday Wednesday Thursday Friday Saturday Sunday')
const month = wordList('January February March April June July September October November')

/** What people talk to an assistant about, none of it a rule for it: blocks of lines, each a kind of words. */
export const topics: readonly [Topic, ...Topic[]] = atLeastOne(
  readFileSync(new URL('topics.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n\n')
    .map((block) => {
      const kinds = block.split('\n').map((line) => line.split(': '))
      const { pastes: pasted, ...own } = Object.fromEntries(
        kinds.map(([kind = '', all = '']) => [kind, wordList(all, ' | ')]),
      )
      return { words: { ...own, weekday, month }, pastes: pasted ?? [''] }
    }),
)

/** What an assistant answers, in 50 to 500 words: paragraphs, lists, steps, code. */
export function assistantTurn(topic: Topic, dice: Dice): string {
  const wordsAim = dice.pick([50, 50, 60, 70, 80, 100, 130, 180, 260, 360]) + dice.below(30)
  const blocks: string[] = []
  for (let words = 0; words < wordsAim; words = wordsIn(blocks)) {
    const kind = dice.below(8)
    if (kind < 5 || blocks.length === 0) blocks.push(paragraph(topic, Math.min(80, wordsAim), dice))
    else if (kind < 7) blocks.push(bullets(topic, dice))
    else blocks.push(topic.pastes.includes('source') ? shownCode(dice) : bullets(topic, dice))
  }
  return blocks.join('\n\n')
}

/** One paragraph of explanation, of at least half so many words. */
export function paragraph(topic: Topic, wordsMost: number, dice: Dice): string {
  const lexicon = topic.words
  const sentences: string[] = []
  const aim = wordsMost / 2 + dice.below(Math.ceil(wordsMost / 3))
  while (wordsIn(sentences) < aim) {
    const link = dice.below(3) === 0 ? `${dice.pick(links)} ` : ''
    sentences.push(`${sentence(`${link}${write(dice.pick(explanations), lexicon, dice)}`)}.`)
  }
  return sentences.join(' ')
}

/** What a user says in an ordinary turn, of 4 to about 250 words: nothing that has to hold beyond the next answer. */
export function userTurn(topic: Topic, dice: Dice): string {
  const lexicon = topic.words
  const kind = kinds[dice.below(kinds.length)] ?? 'question'
  switch (kind) {
    case 'question':
      return casual(oneOf(questions, lexicon, dice), dice)
    case 'follow-up':
      return casual(`${oneOf(openers, lexicon, dice)} ${oneOf(questions, lexicon, dice)}`, dice)
    case 'request':
      return `${oneOf(requests, lexicon, dice)} ${prose(topic, dice.below(30), dice)}`.trim()
    case 'description':
      return `${prose(topic, 25 + dice.below(60), dice)} ${oneOf(questions, lexicon, dice)}`
    case 'story':
      return [
        prose(topic, 50 + dice.below(50), dice),
        `${prose(topic, 40 + dice.below(90), dice)} ${oneOf(questions, lexicon, dice)}`,
      ].join('\n\n')
    case 'pasted':
      return `${oneOf(pastedLeads, lexicon, dice)}\n\n${pastedText(topic, dice)}`
    case 'pasted-and-told':
      return `${prose(topic, 20 + dice.below(40), dice)}\n\n${pastedText(topic, dice)}\n\n${oneOf(questions, lexicon, dice)}`
  }
}

/** Sentences that tell of something, at least so many words of them. */
export function prose(topic: Topic, wordsMin: number, dice: Dice): string {
  const lexicon = topic.words
  const sentences: string[] = []
  let words = 0
  while (words < wordsMin) {
    const next = `${sentence(write(dice.pick(tellings) + dice.pick(tails), lexicon, dice))}.`
    sentences.push(next)
    words += next.split(' ').length
  }
  return sentences.join(' ')
}

export const pastedText = (topic: Topic, dice: Dice): string =>
  pastes[dice.pick(topic.pastes)]?.(dice, topic) ?? ''

const shownCode = (dice: Dice): string =>
  `\`\`\`\n${sampleSource(dice, 8 + dice.below(18)).trimEnd()}\n\`\`\``

/** The templates of a kind, a line each: `{name}` stands for one of a topic's words. */
const templates = Map.groupBy(
  readFileSync(new URL('templates.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n'),
  (line) => line.slice(0, line.indexOf(': ')),
)

const templatesOf = (kind: string): Words =>
  atLeastOne((templates.get(kind) ?? []).map((line) => line.slice(kind.length + 2)))

const questions = templatesOf('questions')
const openers = templatesOf('openers')
const requests = templatesOf('requests')
const pastedLeads = templatesOf('pastedLeads')
/** Ordinary tellings, in which words such as only, never and must describe what was or is. */
const tellings = templatesOf('tellings')
const tails: Words = ['', '', '', ...templatesOf('tails')]
const links = templatesOf('links')
const leads = templatesOf('leads')
const explanations = templatesOf('explanations')
const mailClosings = templatesOf('mailClosings')
type Words = readonly [string, ...string[]]

type Lexicon = Readonly<Record<string, Words>>

/** Writes a text by a template: each `{name}` becomes one of its words, which may hold names themselves. */
function write(template: string, lexicon: Lexicon, dice: Dice): string {
  let text = template
  // Nothing is compared with itself.
  const taken = new Set<string>()
  const fresh = (name: string): string => {
    const words = Array.from({ length: TRIES }, () => wordFor(name, lexicon, dice))
    const word = words.find((each) => !taken.has(each)) ?? words[0] ?? ''
    taken.add(word)
    return word
  }
  // Words refer to words of a lower kind only; a lexicon that goes in a circle is a mistake.
  for (let depth = 0; text.includes('{') && depth < DEPTH_MAX; depth += 1)
    text = text.replaceAll(/\{(\w+)\}/g, (_, name: string) => fresh(name))
  if (text.includes('{')) throw new Error(`The template "${template}" goes in a circle.`)
  return text
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const DEPTH_MAX = 6
const TRIES = 4

function wordFor(name: string, lexicon: Lexicon, dice: Dice): string {
  switch (name) {
    case 'few':
      return String(3 + dice.below(60))
    case 'many':
      return (200 + dice.below(90_000)).toLocaleString('en-US')
    case 'clock':
      return `${6 + dice.below(17)}:${String(dice.below(60)).padStart(2, '0')}`
    default: {
      const words = lexicon[name]
      if (words === undefined) throw new Error(`No words are known for {${name}}.`)
      return dice.pick(words)
    }
  }
}

function wordList(all: string, between = ' '): Words {
  return atLeastOne(all.split(between))
}

function atLeastOne<Item>([first, ...others]: readonly Item[]): readonly [Item, ...Item[]] {
  if (first === undefined) throw new Error('There is nothing to pick from.')
  return [first, ...others]
}

const wordsIn = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + text.split(/\s+/).length, 0)

function bullets({ words }: Topic, dice: Dice): string {
  const lead = oneOf(leads, words, dice)
  const isNumbered = dice.below(2) === 0
  const items = times(3 + dice.below(4), (index) => {
    return `${isNumbered ? `${index + 1}.` : '-'} ${oneOf(explanations, words, dice)}.`
  })
  return [lead, '', ...items].join('\n')
}

/** As often as people do so; what is pasted makes up most of the text. */
const kinds = (
  [
    [3, 'question'],
    [3, 'follow-up'],
    [2, 'request'],
    [3, 'description'],
    [2, 'story'],
    [1, 'pasted'],
    [2, 'pasted-and-told'],
  ] as const
).flatMap(([share, kind]) => times(share, () => kind))

const oneOf = (choices: Words, lexicon: Lexicon, dice: Dice): string =>
  sentence(write(dice.pick(choices), lexicon, dice))

/** Some people type small letters and no mark at the end. */
const casual = (text: string, dice: Dice): string =>
  dice.below(3) === 0 ? text.toLowerCase().replace(/[?.]$/, '') : text

const pastes: Readonly<Record<string, (dice: Dice, topic: Topic) => string>> = {
  log: (dice) => fenced(sampleLog(dice, 4 + dice.below(16)), dice),
  source: (dice) => fenced(sampleSource(dice, 8 + dice.below(20)), dice),
  table: (dice) => table(dice, 5 + dice.below(22)),
  trace: (dice) => fenced(stackTrace(dice, 4 + dice.below(10)), dice),
  settings: (dice) => fenced(settings(dice, 5 + dice.below(14)), dice),
  mail: (dice, topic) => mail(topic, dice),
}

/** Not everybody fences what he pastes. */
function fenced(text: string, dice: Dice): string {
  return dice.below(3) === 0 ? text.trimEnd() : `\`\`\`\n${text.trimEnd()}\n\`\`\``
}

function table(dice: Dice, rows: number): string {
  const row = () =>
    [day(dice), dice.pick(names), dice.below(9000) / 100, dice.pick(states), dice.below(400)].join(';')
  return ['day;name;amount;state;count', ...times(rows, row)].join('\n')
}

/** Somebody else's words, of which none are addressed to the assistant. */
function mail(topic: Topic, dice: Dice): string {
  const lexicon = topic.words
  const paragraphs = [
    dice.pick(['Hello,', 'Dear all,', 'Hi there,', 'Good morning,']),
    prose(topic, 30 + dice.below(60), dice),
    `${prose(topic, 20 + dice.below(50), dice)} ${write(dice.pick(mailClosings), lexicon, dice)}`,
    dice.pick(['Best wishes', 'Kind regards', 'Yours', 'See you soon']),
  ]
  return paragraphs.map((text) => `> ${text}`).join('\n>\n')
}

function stackTrace(dice: Dice, frames: number): string {
  const frame = () =>
    `    at ${dice.pick(names)}.${dice.pick(steps)} (${dice.pick(names)}/${dice.pick(steps)}.js:${1 + dice.below(900)}:${1 + dice.below(70)})`
  return [`${dice.pick(errors)} ${dice.pick(names)}_${dice.hex(4)}`, ...times(frames, frame)].join('\n')
}

function settings(dice: Dice, lines: number): string {
  const line = () => {
    const text = [String(dice.below(5000)), `"${dice.pick(names)}-${dice.hex(3)}"`] as const
    const value = dice.pick([...text, dice.pick(['true', 'false'])])
    return `  "${dice.pick(steps)}_${dice.pick(names)}": ${value},`
  }
  return ['{', ...times(lines, line), '}'].join('\n')
}

function day(dice: Dice): string {
  return `2025-${String(1 + dice.below(12)).padStart(2, '0')}-${String(1 + dice.below(28)).padStart(2, '0')}`
}

const names = wordList(
  'meadow harbour ticket parcel sensor tenant voucher lantern folder beacon basket ledger signal ribbon',
)
const steps = wordList('open parse flush render collect resolve attach publish measure compare rewind')
const states = ['open', 'paid', 'late', 'void', 'new'] as const
const errors = wordList(
  'TypeError: cannot read|Error: no such|RangeError: too many|TimeoutError: waited for|KeyError:',
  '|',
)
