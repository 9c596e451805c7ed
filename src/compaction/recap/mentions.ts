import type { Steps } from '../../conversation/source.ts'
import type { MadeCache } from '../made-cache.ts'
import { renderTerminal } from '../../terminal/render.ts'
import { readMessage } from '../../subject/read-message.ts'
import { isSaidByUser, readableTokens, replyStart, type Subject } from '../../subject/subject.ts'
import { argumentLines, lookedAt } from '../../subject/looked-at.ts'
import { wordsIn } from '../../subject/things.ts'

/** How a specific thing was named in a run of messages. Ages are tokens between a mention and the end of the run. */
export type Mention = {
  /** How many messages name it; those that one reply consists of are one. */
  readonly messages: number
  /** How many of the assistant's do. */
  readonly ofAssistant: number
  /** Age of the latest mention by the assistant; null where it never named it. */
  readonly assistantAgeTokens: number | null
  readonly isUsers: boolean
  /** The words around its latest mention. */
  readonly words: string
  /** The message that names it last, and the one that names it first, or the first of the same reply. */
  readonly latest: number
  readonly first: number
}

/** The specific things that these messages name and the visible ones do not. */
export function* mentionsIn(
  subject: Subject,
  indexes: readonly number[],
  visible: readonly number[],
  cache: MadeCache,
): Steps<Map<string, Mention>> {
  const found = new Map<string, Mention>()
  let ageTokens = 0
  // From the newest to the oldest: so the latest mention is the first that is met.
  for (const index of indexes.toReversed()) {
    const isAssistants = subject.messages[index]?.facts.role === 'assistant'
    const first = replyStart(subject, index)
    for (const [name, words] of yield* thingsOf(subject, index, cache)) {
      const later = found.get(name)
      if (later === undefined && found.size >= THINGS_MAX) continue
      const more = later?.first === first ? 0 : 1
      found.set(name, {
        messages: (later?.messages ?? 0) + more,
        ofAssistant: (later?.ofAssistant ?? 0) + (isAssistants ? more : 0),
        assistantAgeTokens: later?.assistantAgeTokens ?? (isAssistants ? ageTokens : null),
        isUsers: isSaidByUser(subject, index) || later?.isUsers === true,
        words: later?.words ?? words,
        latest: later?.latest ?? index,
        first,
      })
    }
    ageTokens += readableTokens(subject, index)
    yield
  }
  for (const index of visible) {
    for (const [name] of yield* thingsOf(subject, index, cache)) found.delete(name)
    yield
  }
  return found
}

// --- internal ---

/** Beyond so many distinct names, older ones are not looked at: a recap holds a few hundred. */
const THINGS_MAX = 20_000

/** Names of one message that are looked at; one with more is a listing or a log. */
const NAMES_PER_MESSAGE_MAX = 500

/** Words between two pauses: about a millisecond. */
const WORDS_PER_STEP = 2_000

/** Characters of the words on either side of a thing. */
const AROUND_CHARS = 40

/**
 * The distinct things that a message names, each with the words around its first mention there; tool output
 * as a terminal would show it in the end. Found once for each message.
 */
function* thingsOf(subject: Subject, index: number, cache: MadeCache): Steps<readonly NamedThing[]> {
  const message = subject.messages[index]
  if (message === undefined) return []
  const key = `things:${subject.memorySpace}:${message.facts.role}:${message.facts.hash()}`
  const known = cache.get(key)?.text ?? null
  if (known !== null) return thingsFrom(known)

  const { text, calls } = yield* readMessage(subject, message)
  const near = lookedAt(text)
  const things = new Map<string, string>()
  yield* addThings(message.facts.role === 'tool' ? yield* renderTerminal(near) : near, things)
  for (const { argumentsText } of calls)
    yield* addThings(lookedAt(yield* argumentLines(argumentsText)), things)
  yield
  for (const name of numberedLines(things.keys())) things.delete(name)
  const found = [...things]
  cache.set(key, { text: textOfThings(found), tokens: 0, how: null })
  return found
}

type NamedThing = readonly [name: string, words: string]

/** Things as the cache holds them, each in a line: neither a name nor the words around one have a tab or a line break. */
function textOfThings(things: readonly NamedThing[]): string {
  return things.map(([name, words]) => `${name}\t${words}`).join('\n')
}

function thingsFrom(text: string): readonly NamedThing[] {
  if (text === '') return []
  return text.split('\n').map((line) => {
    const nameEnd = line.indexOf('\t')
    return [line.slice(0, nameEnd), line.slice(nameEnd + 1)]
  })
}

function* addThings(text: string, things: Map<string, string>): Steps<void> {
  let words = 0
  for (const thing of wordsIn(text)) {
    words += 1
    if (words % WORDS_PER_STEP === 0) yield
    if (thing === null || things.has(thing.name) || things.size >= NAMES_PER_MESSAGE_MAX) continue
    things.set(thing.name, around(text, thing.start, thing.end))
  }
}

/**
 * Numbers that count upwards in one message number its lines. Of a few lines they say which were looked at; of a
 * long listing only where it begins and ends says something.
 */
function numberedLines(names: Iterable<string>): string[] {
  const numbers: number[] = []
  for (const name of names) if (isInteger.test(name)) numbers.push(Number(name))
  numbers.sort((a, b) => a - b)
  const within: string[] = []
  for (let start = 0; start < numbers.length;) {
    let end = start + 1
    while (numbers[end] === (numbers[end - 1] ?? 0) + 1) end += 1
    if (end - start > LOOKED_AT_LINES_MAX) within.push(...numbers.slice(start + 1, end - 1).map(String))
    start = end
  }
  return within
}

/** More lines than this are a listing and no excerpt. */
const LOOKED_AT_LINES_MAX = 40

const isInteger = /^[1-9]\d{2,6}$/

/** The line in which something stands, cut to a few words on either side. */
function around(text: string, start: number, end: number): string {
  // Line ends are looked for nearby only: a line may be megabytes long, and hold thousands of names.
  const before = text.slice(Math.max(0, start - AROUND_CHARS), start)
  const after = text.slice(end, end + AROUND_CHARS)
  const lineEnd = after.indexOf('\n')
  const words =
    before.slice(before.lastIndexOf('\n') + 1) +
    text.slice(start, end) +
    after.slice(0, lineEnd === -1 ? after.length : lineEnd)
  return words.replace(/\s+/g, ' ').trim()
}
