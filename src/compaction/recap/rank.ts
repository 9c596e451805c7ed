import { parseMessage } from '../../conversation/parse.ts'
import type { Steps } from '../../conversation/source.ts'
import { renderTerminal } from '../passes/render.ts'
import type { Subject } from '../subject.ts'
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
): Steps<RankedThing[]> {
  const found = new Map<string, Mention>()
  for (const [position, index] of indexes.entries()) {
    const isUser = subject.messages[index]?.facts.role === 'user'
    for (const text of textsOf(subject, index)) collect(found, text, position, isUser)
    yield
  }
  for (const index of visible) {
    for (const text of textsOf(subject, index)) {
      for (const { name } of thingsIn(text)) found.delete(name)
    }
    yield
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

/** What a message says and calls; tool output as a terminal would show it in the end. */
function textsOf(subject: Subject, index: number): string[] {
  const message = subject.messages[index]
  if (message === undefined) return []
  const { text, calls } = parseMessage(subject.source, message)
  const shown = message.facts.role === 'tool' ? renderTerminal(text) : text
  return [shown, ...calls.map((call) => call.argumentsText)]
}

function collect(found: Map<string, Mention>, text: string, position: number, isUsers: boolean): void {
  for (const { name, start, end } of thingsIn(text)) {
    const mention = found.get(name)
    if (mention === undefined) {
      if (found.size >= THINGS_MAX) continue
      found.set(name, { messages: 1, latest: position, words: around(text, start, end), isUsers })
      continue
    }
    mention.isUsers ||= isUsers
    if (mention.latest === position) continue
    mention.messages += 1
    mention.latest = position
    mention.words = around(text, start, end)
  }
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
  const from = Math.max(text.lastIndexOf('\n', start - 1) + 1, start - AROUND_CHARS)
  const lineEnd = text.indexOf('\n', end)
  const to = Math.min(lineEnd === -1 ? text.length : lineEnd, end + AROUND_CHARS)
  return text.slice(from, to).replace(/\s+/g, ' ').trim()
}
