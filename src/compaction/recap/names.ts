import type { Pausable } from '../../json/source.ts'
import { callSubjects } from '../history/calls/call-subject.ts'
import { callOf, isSaidByUser, readableTokens, replyStart, type History } from '../history/history.ts'
import { isWholePath, needsWords, thingsIn, thingsInSteps } from '../history/specific-names.ts'
import type { MadeCache } from '../made-cache.ts'
import { renderTerminal } from '../terminal/render-terminal.ts'
import { argumentLines, lookedAt, readMessage } from '../history/read-message.ts'

/**
 * The lines that name the things which nothing else tells, those that are most likely to come up again for their
 * size, as far as the cap allows: what says little by itself with the words around it, the others behind what
 * they were named with. Lines stand in the order in which their first thing was last named. What the `standing` texts name,
 * which are in the recap or before it, is not named again.
 */
export function* nameLines(
  history: History,
  mentions: ReadonlyMap<string, Mention>,
  standing: readonly string[],
  tokensMax: number,
): Pausable<string[]> {
  const { countSteps } = history
  const named = new Set<string>()
  for (const text of standing) for (const { name } of thingsIn(text)) named.add(name)
  const lines: Line[] = []
  const byContext = new Map<string, Line>()
  let left = tokensMax
  let loneLeft = left * LONE_SHARE
  let misses = 0
  for (const { name, shown, mention } of yield* bestFirst(yield* entriesOf(mentions))) {
    if (misses >= MISSES_MAX) break
    if (named.has(name)) continue
    // Out of a listing, say: nobody can tell any more what it was the number of.
    if (mention.ofAssistant === 0 && !mention.isUsers && isNumber.test(name)) continue
    yield
    const isBare = shown === name
    const context = isBare ? yield* contextOf(history, mention.latest) : ''
    const line = isBare ? byContext.get(context) : undefined
    const opening = line === undefined ? `\n- ${context === '' ? '' : `${context}:`}` : ''
    const tokens = yield* countSteps(isBare ? `${opening} ${name}` : `\n- ${shown}`)
    const isTakenUp = mention.ofAssistant > 0 || mention.isUsers || mention.messages > 1
    const isLone = !isTakenUp && !isWholePath(name)
    if (tokens > left || (isLone && tokens > loneLeft)) {
      misses += tokens > left ? 1 : 0
      continue
    }
    left -= tokens
    if (isLone) loneLeft -= tokens
    if (line === undefined) {
      const begun = { latest: mention.latest, context, names: [shown] }
      if (isBare) byContext.set(context, begun)
      else lines.push(begun)
    } else line.names.push(name)
    for (const thing of thingsIn(isBare ? context : shown)) named.add(thing.name)
  }
  return [...lines, ...byContext.values()].sort((a, b) => a.latest - b.latest).map(textOf)
}

/**
 * @internal exported for tests. How likely it is, from 0 to 1, that a thing which is no longer in view is named again in the
 * next ten or so steps. What the assistant itself used often and lately comes back; what only tools printed seldom does. The
 * weights are those of a logistic regression over recorded coding runs, rounded; but for the last two: what the user named is
 * asked for where nothing is recorded, and a whole path that was said once cannot be guessed again.
 */
export function likelihoodOf(name: string, mention: Mention): number {
  const { messages, ofAssistant, assistantAgeTokens } = mention
  const age =
    assistantAgeTokens === null ? NEVER_AGE : Math.log2(1 + (assistantAgeTokens + TAIL_TOKENS) / 1000)
  const odds =
    -1.5 +
    0.35 * Math.log2(messages) +
    0.15 * Math.log2(1 + ofAssistant) -
    0.35 * age -
    (ofAssistant === 0 ? 0.7 : 0) -
    (isNumber.test(name) ? 1.5 : 0) -
    (name.includes('://') ? 1.5 : 0) +
    (mention.isUsers ? 4 : 0) +
    (messages === 1 && isWholePath(name) ? 2 : 0)
  return 1 / (1 + Math.exp(-odds))
}

/**
 * The items sorted by their worth, best first; equals keep their order. No more are returned than a recap can hold. It pauses in
 * between, since there may be hundreds of thousands.
 */
export function* bestFirst<Item extends { readonly worth: number }>(
  items: readonly Item[],
): Pausable<readonly Item[]> {
  let best: Item[] = []
  for (let start = 0; start < items.length; start += SORTED_PER_STEP) {
    best = best.concat(items.slice(start, start + SORTED_PER_STEP))
    best.sort((one, other) => other.worth - one.worth)
    best.length = Math.min(best.length, THINGS_MAX)
    yield
  }
  return best
}

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
  history: History,
  indexes: readonly number[],
  visible: readonly number[],
  cache: MadeCache,
): Pausable<Map<string, Mention>> {
  const found = new Map<string, Mention>()
  let ageTokens = 0
  // From the newest to the oldest: so the latest mention is the first that is met.
  for (const index of indexes.toReversed()) {
    const isAssistants = history.messages[index]?.facts.role === 'assistant'
    const first = replyStart(history, index)
    for (const [name = '', words = ''] of yield* thingsOf(history, index, cache)) {
      const later = found.get(name)
      if (later === undefined && found.size >= THINGS_MAX) continue
      const more = later?.first === first ? 0 : 1
      found.set(name, {
        messages: (later?.messages ?? 0) + more,
        ofAssistant: (later?.ofAssistant ?? 0) + (isAssistants ? more : 0),
        assistantAgeTokens: later?.assistantAgeTokens ?? (isAssistants ? ageTokens : null),
        isUsers: isSaidByUser(history, index) || later?.isUsers === true,
        words: later?.words ?? words,
        latest: later?.latest ?? index,
        first,
      })
    }
    ageTokens += readableTokens(history, index)
    yield
  }
  for (const index of visible) {
    for (const [name = ''] of yield* thingsOf(history, index, cache)) found.delete(name)
    yield
  }
  return found
}

// --- internal ---

/** What stands in one line: a thing with the words around it, or the things that were named in one context. */
type Line = { readonly latest: number; readonly context: string; readonly names: string[] }

function textOf({ context, names }: Line): string {
  const others = names.filter((name) => name !== context)
  if (others.length === 0) return `- ${context}`
  return `- ${context === '' ? '' : `${context}: `}${others.join(' ')}`
}

/** What does not fit is passed over, since something shorter may; after so many the recap is full. */
const MISSES_MAX = 20

/** Characters of a token in names and the words around them, about: to rank by, not to count with. */
const CHARS_PER_TOKEN = 3

/** What one result alone named, and nobody took up, takes no more than this share: most of it never comes up again. */
const LONE_SHARE = 1 / 4

/** Things as they would be written, with what they are worth for their size. */
function* entriesOf(mentions: ReadonlyMap<string, Mention>) {
  const entries = []
  for (const [name, mention] of mentions) {
    const shown = needsWords(name) ? mention.words : name
    const worth = likelihoodOf(name, mention) / (1 + shown.length / CHARS_PER_TOKEN)
    entries.push({ name, shown, worth, mention })
    yield
  }
  return entries
}

/**
 * What a message deals with, in a word: the file that its call deals with or names first, else the tool; '' where there is no
 * call. Things that were named in one context belong together.
 */
function* contextOf(history: History, index: number): Pausable<string> {
  const call = callOf(history, index)
  if (call === null) return ''
  const { paths } = (yield* callSubjects(history, call.index))[call.position] ?? { paths: [] }
  return paths[0] ?? history.messages[call.index]?.facts.callNames[call.position] ?? ''
}

/** What stands in view behind the messages in question, about: their ages count from there. */
const TAIL_TOKENS = 3000

/** As old as sixty thousand tokens: what the assistant never named itself. */
const NEVER_AGE = 6

const isNumber = /^[\d.,:-]+$/

/** Items sorted into the others between two pauses: about a millisecond. */
const SORTED_PER_STEP = 1_000

/** Beyond so many distinct names, older ones are not looked at: a recap holds a few hundred, of sentences as of names. */
const THINGS_MAX = 20_000

/** Names of one message that are looked at; one with more is a listing or a log. */
const NAMES_PER_MESSAGE_MAX = 500

/** Characters of the words on either side of a thing. */
const AROUND_CHARS = 40

/**
 * The distinct things that a message names, each with the words around its first mention there; tool output
 * as a terminal would show it in the end. Found once for each message.
 */
function* thingsOf(
  history: History,
  index: number,
  cache: MadeCache,
): Pausable<readonly (readonly string[])[]> {
  const message = history.messages[index]
  if (message === undefined) return []
  const key = `things:${history.memorySpace}:${message.facts.role}:${message.facts.hash}`
  const known = cache.get(key)?.text ?? null
  if (known !== null) return known === '' ? [] : known.split('\n').map((line) => line.split('\t', 2))
  const { text, calls } = yield* readMessage(history, message)
  const near = lookedAt(text)
  const things = new Map<string, string>()
  yield* addThings(message.facts.role === 'tool' ? yield* renderTerminal(near) : near, things)
  for (const { argumentsText } of calls)
    yield* addThings(lookedAt(yield* argumentLines(argumentsText)), things)
  yield
  const found = [...things]
  // Each in a line: neither a name nor the words around one have a tab or a line break.
  const kept = found.map(([thing, words]) => `${thing}\t${words}`).join('\n')
  cache.set(key, { text: kept, tokens: 0, how: null })
  return found
}

function* addThings(text: string, things: Map<string, string>): Pausable<void> {
  for (const thing of thingsInSteps(text)) {
    if (thing === null) yield
    else if (!things.has(thing.name) && things.size < NAMES_PER_MESSAGE_MAX)
      things.set(thing.name, around(text, thing.start, thing.end))
  }
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
