import { parseMessage } from '../../conversation/parse.ts'
import type { Steps } from '../../conversation/source.ts'
import type { MadeCache } from '../made-cache.ts'
import { renderTerminal } from '../passes/render.ts'
import { isSaidByUser, type Subject } from '../subject.ts'
import { thingsIn } from './things.ts'

/** A specific thing with the words around its latest mention. */
export type RankedThing = { readonly name: string; readonly words: string }

/**
 * The specific things that these messages name and the visible ones do not, best first: the recent and often
 * used before the old and rare, the peculiar before the general, and what the user named before what tools
 * printed.
 */
export function* rankThings(
  subject: Subject,
  indexes: readonly number[],
  visible: readonly number[],
  cache: MadeCache,
): Steps<RankedThing[]> {
  const found = new Map<string, Mention>()
  for (const [position, index] of indexes.entries()) {
    const isUsers = isSaidByUser(subject, index)
    for (const thing of yield* thingsOf(subject, index, cache)) collect(found, thing, position, isUsers)
  }
  for (const index of visible) {
    for (const { name } of yield* thingsOf(subject, index, cache)) found.delete(name)
  }
  return [...found]
    .map(([name, mention]) => ({ name, words: mention.words, score: scoreOf(name, mention, indexes.length) }))
    .sort((a, b) => b.score - a.score)
    .map(({ name, words }) => ({ name, words }))
}

// --- internal ---

type Mention = { messages: number; latest: number; words: string; isUsers: boolean }

/** Beyond so many distinct names, further ones are not looked at: a recap holds a few hundred. */
const THINGS_MAX = 20_000

/** A name that stands in sixteen messages is as much in use as can be. */
const DOUBLINGS_FOR_FULL_USE = 4

/** Characters of the words on either side of a thing. */
const AROUND_CHARS = 60

/** Names of one message that are looked at; one with more is a listing or a log. */
const NAMES_PER_MESSAGE_MAX = 500

/** Mentions between two pauses: about a millisecond. */
const MENTIONS_PER_STEP = 2_000

/**
 * The distinct things that a message names, each with the words around its first mention there; tool output
 * as a terminal would show it in the end. Found once for each message.
 */
function* thingsOf(subject: Subject, index: number, cache: MadeCache): Steps<readonly RankedThing[]> {
  const message = subject.messages[index]
  if (message === undefined) return []
  const key = `things:${subject.memorySpace}:${message.facts.role}:${message.facts.hash}`
  const known = cache.get(key)?.text ?? null
  if (known !== null) return readThings(known)

  const { text, calls } = parseMessage(subject.source, message)
  const shown = message.facts.role === 'tool' ? renderTerminal(text) : text
  const things = new Map<string, string>()
  let mentions = 0
  for (const piece of [shown, ...calls.map((call) => call.argumentsText)]) {
    for (const { name, start, end } of thingsIn(piece)) {
      if (!things.has(name) && things.size < NAMES_PER_MESSAGE_MAX)
        things.set(name, around(piece, start, end))
      mentions += 1
      if (mentions % MENTIONS_PER_STEP === 0) yield
    }
  }
  yield
  cache.set(key, { text: JSON.stringify([...things]), tokens: 0 })
  return [...things].map(([name, words]) => ({ name, words }))
}

/** What `thingsOf` put into the cache. */
function readThings(json: string): RankedThing[] {
  const pairs: unknown = JSON.parse(json)
  if (!Array.isArray(pairs)) return []
  return pairs.flatMap((pair: unknown) =>
    Array.isArray(pair) ? [{ name: String(pair[0]), words: String(pair[1]) }] : [],
  )
}

function collect(
  found: Map<string, Mention>,
  { name, words }: RankedThing,
  position: number,
  isUsers: boolean,
): void {
  const mention = found.get(name)
  if (mention === undefined) {
    if (found.size < THINGS_MAX) found.set(name, { messages: 1, latest: position, words, isUsers })
    return
  }
  mention.isUsers ||= isUsers
  mention.messages += 1
  mention.latest = position
  mention.words = words
}

/** Peculiarity counts most: what is peculiar is lost for good, what is general comes up again. */
function scoreOf(name: string, mention: Mention, messageCount: number): number {
  const recency = mention.latest / messageCount
  const use = Math.min(1, Math.log2(mention.messages) / DOUBLINGS_FOR_FULL_USE)
  return peculiarity(name) * 2 + recency * 0.8 + use * 0.6 + (mention.isUsers ? 0.8 : 0)
}

/** How unlikely it is that a name could be guessed again, from 0 to 1. */
function peculiarity(name: string): number {
  if (name.includes('@') || name.includes('://') || /^\/.+\//.test(name)) return 1
  if (/^[\d./]+$/.test(name)) return name.includes('/') ? 0.1 : Math.min(0.5, 0.2 + name.length * 0.03)
  if (/\d[^\d]*\d[^\d]*\d/.test(name) && /[a-z]/i.test(name)) return 0.5
  return name.includes('/') ? 0.5 : 0.2
}

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
