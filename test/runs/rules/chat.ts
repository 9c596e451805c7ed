import { openDice, seedOf, type Dice } from '../../../src/commands/demo/dice.ts'
import { assistantTurn, paragraph, pastedText, prose, topics, userTurn, type Topic } from './filler.ts'
import { deal, listingOf, phrasingsOf, scenariosOf, type Form, type Half, type Phrasing } from './phrasing.ts'

export type ChatMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }

export type AskedRule = {
  readonly form: Form
  readonly language: string
  readonly place: Place
  readonly says: string
  /** What the user had said before and no longer holds; null where nothing. */
  readonly old: string | null
  /** What the words refer to, as the assistant said it: the option, the proposal, the question; null where nothing. */
  readonly refersTo: string | null
}

export type Chat = { readonly messages: readonly ChatMessage[]; readonly rules: readonly AskedRule[] }

export type ChatOrder = {
  readonly half: Half
  readonly number: number
  readonly seed: number
  readonly tokens: number
  /** The share of the chat by which all rules are said; an early fifth if it is not given. */
  readonly ruledUntil?: number
}

/**
 * A chat of about so many tokens, which ends with a user's turn: one to four rules in its first part, and then other
 * things. The same order makes the same chat.
 */
export function makeChat(
  { half, number, seed, tokens, ruledUntil = EARLY }: ChatOrder,
  count: (text: string) => number,
): Chat {
  const deckSeed = `${seed} ${half} ${tokens}`
  const phrasings = deal(phrasingsOf(half), deckSeed, number)
  const dice = openDice(seedOf(`${deckSeed} ${number}`))
  const speaker = openSpeaker(half, dice, ruledUntil)
  const scenes = phrasings
    .flatMap((phrasing) => speaker.scenesOf(phrasing))
    .sort((one, other) => one.at - other.at)
  const rules: AskedRule[] = []
  const messages: ChatMessage[] = []
  const sizes: number[] = []
  const sharePlayed = () => sizes.reduce((sum, size) => sum + size, 0) / tokens
  const say = (role: ChatMessage['role'], content: string) => {
    messages.push({ role, content })
    sizes.push(count(content) + MESSAGE_TOKENS)
  }

  if (dice.below(2) === 0) say('system', dice.pick(systemPrompts))
  for (let played = sharePlayed(); played < 1; played = sharePlayed()) {
    const scene = scenes[0]
    const isDue = scene !== undefined && scene.at <= played
    if (isDue) scenes.shift()
    const turns = isDue ? scene.play() : [{ user: speaker.ask(), assistant: speaker.answer() }]
    for (const { user, assistant, rule } of turns) {
      say('user', user)
      if (rule !== undefined) rules.push(rule)
      say('assistant', assistant)
    }
  }
  say('user', speaker.ask())
  return { messages, rules }
}

/** Where in a message a rule stands: as a message of its own, or before, between or after other things. */
export const places = ['alone', 'first', 'middle', 'last'] as const
export type Place = (typeof places)[number]

type Occasion = {
  readonly language: string
  readonly topic: Topic
  readonly dice: Dice
  /** Whether it answers what the assistant said just before. */
  readonly isReply: boolean
}

/** Says a rule as people do: alone or beside other things, sometimes carelessly. */
function speak(written: string, occasion: Occasion) {
  const { dice } = occasion
  const says = inManner(written, occasion)
  const place = dice.pick(occasion.isReply ? placesOfReplies : placesOfRules)
  const after = isEnded(says) && dice.below(2) === 0 ? ' ' : dice.pick(['\n', '\n\n'])
  const said = place === 'alone' ? says : place === 'last' ? `\n\n${says}` : `${says}${after}`
  const before = place === 'middle' ? lead(occasion) : place === 'last' ? otherThings(occasion) : ''
  const behind = place === 'first' || place === 'middle' ? otherThings(occasion) : ''
  return { content: `${before}${said}${behind}`, says, place }
}

const MESSAGE_TOKENS = 4

/** Rules are said by this share of a chat; corrections towards its end, what they correct near its beginning. */
const EARLY = 0.2
/** So that some chats begin with one: before this much of nothing. */
const FIRST = 0.015
const CORRECTED_BEFORE = 0.08
const CORRECTED_AFTER = 0.12

const systemPrompts = [
  'You are a helpful assistant.',
  'You are a helpful assistant with a calm manner. The user may switch topics at will.',
  'You assist the members of a small team with whatever they bring along, from code to cooking.',
  'Answer in Markdown. The current user has a paid plan.',
] as const

const acknowledgements = [
  'Understood.',
  'Noted.',
  'Got it.',
  'All right.',
  'Very well.',
  'Sure.',
  'Okay.',
] as const

type Turn = { readonly user: string; readonly assistant: string; readonly rule?: AskedRule }

/** Turns that follow one another, due once this share of the chat is there. */
type Scene = { readonly at: number; readonly play: () => readonly Turn[] }

/** Who holds a chat: stays with a topic for some turns, and then takes up another. */
function openSpeaker(half: Half, dice: Dice, ruledUntil: number) {
  const scenariosLeft = [...scenariosOf(half)]
  const [firstScenario] = scenariosLeft
  let topic: Topic = dice.pick(topics)
  const ask = () => {
    if (dice.below(TOPIC_TURNS) === 0) topic = dice.pick(topics)
    return userTurn(topic, dice)
  }
  const answer = () => assistantTurn(topic, dice)
  const acknowledge = () => {
    const text = dice.pick(acknowledgements)
    return dice.below(2) === 0 ? `${text} ${paragraph(topic, 60, dice)}` : `${text}\n\n${answer()}`
  }
  const between = (from: number, to: number) => from + ((to - from) * dice.below(1000)) / 1000
  const ruled = (
    { form, language, says: written }: Phrasing,
    { old = null, refersTo = null }: Partial<Pick<AskedRule, 'old' | 'refersTo'>> = {},
  ): Turn => {
    const { content, says, place } = speak(written, { language, topic, dice, isReply: refersTo !== null })
    const rule = { form, language, place, says, old, refersTo }
    return { user: content, assistant: acknowledge(), rule }
  }
  const meanwhile = (): readonly Turn[] => (dice.below(3) === 0 ? [{ user: ask(), assistant: answer() }] : [])

  function scenesOf(phrasing: Phrasing): readonly Scene[] {
    const at = between(-FIRST, ruledUntil)
    switch (phrasing.form) {
      case 'choice': {
        const [scenario = firstScenario] = scenariosLeft.splice(dice.below(scenariosLeft.length), 1)
        if (scenario === undefined) throw new Error(`the half ${half} has no scenario`)
        const { text, option } = listingOf(scenario, phrasing, dice)
        const says = sentenceWith(phrasing.says, option.name)
        const refersTo = option.text
        const listed = { user: scenario.asked, assistant: text }
        return [{ at, play: () => [listed, ...meanwhile(), ruled({ ...phrasing, says }, { refersTo })] }]
      }
      case 'agreement':
      case 'answer': {
        const play = () => {
          const asked = { user: ask(), assistant: `${paragraph(topic, 80, dice)}\n\n${phrasing.assistant}` }
          return [asked, ruled(phrasing, { refersTo: phrasing.assistant })]
        }
        return [{ at, play }]
      }
      case 'correction': {
        let old = ''
        const first = () => {
          const occasion = { language: phrasing.language, topic, dice, isReply: false }
          const { content, says } = speak(phrasing.old, occasion)
          old = says
          return [{ user: content, assistant: acknowledge() }]
        }
        return [
          { at: between(-FIRST, CORRECTED_BEFORE), play: first },
          { at: between(CORRECTED_AFTER, ruledUntil), play: () => [ruled(phrasing, { old })] },
        ]
      }
      case 'prohibition':
      case 'obligation':
      case 'restriction':
      case 'preference':
      case 'fact':
        return [{ at, play: () => [ruled(phrasing)] }]
    }
  }
  return { ask, answer, scenesOf }
}

const TOPIC_TURNS = 9

function sentenceWith(says: string, option: string): string {
  const text = says.replace('{option}', option)
  return says.startsWith('{option}') && says.endsWith('.')
    ? text.charAt(0).toUpperCase() + text.slice(1)
    : text
}

const placesOfRules = ['alone', 'alone', 'first', 'middle', 'last'] as const

/** Nobody hides an answer between two other things. */
const placesOfReplies = ['alone', 'alone', 'alone', 'alone', 'first', 'first', 'last'] as const
const END_MARK = /[.!?。！？।]$/
const isEnded = (text: string): boolean => END_MARK.test(text)

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
const otherThings = ({ language, topic, dice }: Occasion): string =>
  language === 'en' ? userTurn(topic, dice) : pastedText(topic, dice)
