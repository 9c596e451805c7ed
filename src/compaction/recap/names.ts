import type { Steps } from '../../conversation/source.ts'
import { callSubjects } from '../../subject/calls/call-subject.ts'
import { callOf, type Subject } from '../../subject/subject.ts'
import type { Mention } from './mentions.ts'
import { isWholePath, needsWords, thingsIn } from '../../subject/things.ts'

export type NameOptions = {
  readonly mentions: ReadonlyMap<string, Mention>
  /** Texts that stand in the recap or before it: what they name is not named again. */
  readonly standing: readonly string[]
  readonly tokensMax: number
}

/**
 * The lines that name the things which nothing else tells, those that are most likely to come up again for their
 * size, as far as the cap allows: what says little by itself with the words around it, the others behind what
 * they were named with. Lines stand in the order in which their first thing was last named.
 */
export function* nameLines(subject: Subject, options: NameOptions): Steps<string[]> {
  const { countSteps } = subject
  const named = new Set<string>()
  for (const text of options.standing) for (const { name } of thingsIn(text)) named.add(name)
  const lines: Line[] = []
  const byContext = new Map<string, Line>()
  let left = options.tokensMax
  let loneLeft = left * LONE_SHARE
  let misses = 0
  let tried = 0
  for (const { name, shown, mention } of yield* bestFirst(yield* entriesOf(options.mentions))) {
    if (misses >= MISSES_MAX) break
    if (named.has(name)) continue
    tried += 1
    if (tried % TRIED_PER_STEP === 0) yield
    const isBare = shown === name
    const context = isBare ? yield* contextOf(subject, mention.latest) : ''
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
 * How likely it is, from 0 to 1, that a thing which is no longer in view is named again in the next ten or so
 * steps. What the assistant itself used often and lately comes back; what only tools printed seldom does. The
 * weights are those of a logistic regression over recorded coding runs, rounded; but for the last two: what the
 * user named is asked for where nothing is recorded, and a whole path that was said once cannot be guessed again.
 *
 * @internal exported for tests
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
 * The items in the order of their worth, the best first, as far as they are asked for; of equals the one that came first.
 * In steps: there may be tens of thousands, of which a recap takes a few hundred.
 */
export function* bestFirst<Item extends { readonly worth: number }>(
  items: Iterable<Item>,
): Steps<Iterable<Item>> {
  const runs: Item[][] = []
  let run: Item[] = []
  for (const item of items) {
    run.push(item)
    if (run.length < SORTED_PER_STEP) continue
    runs.push(run.sort(byWorth))
    run = []
    yield
  }
  return merged([...runs, run.sort(byWorth)])
}

// --- internal ---

/** A thing as it would be written, with what it is worth for its size. */
type Entry = {
  readonly name: string
  readonly shown: string
  readonly worth: number
  readonly mention: Mention
}

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

/** Names that are tried between two pauses: of each the tokens are counted. */
const TRIED_PER_STEP = 16

/** What one result alone named, and nobody took up, takes no more than this share: most of it never comes up again. */
const LONE_SHARE = 1 / 4

/** Names that are weighed between two pauses: tens of thousands stand in a conversation, and a pause takes longer than one. */
const NAMES_PER_STEP = 256

function* entriesOf(mentions: ReadonlyMap<string, Mention>): Steps<Entry[]> {
  const entries: Entry[] = []
  for (const [name, mention] of mentions) {
    const shown = needsWords(name) ? mention.words : name
    const worth = likelihoodOf(name, mention) / (1 + shown.length / CHARS_PER_TOKEN)
    entries.push({ name, shown, worth, mention })
    if (entries.length % NAMES_PER_STEP === 0) yield
  }
  return entries
}

/**
 * What a message deals with, in a word: the file that its call deals with or names first, else the tool; '' where there is no
 * call. Things that were named in one context belong together.
 */
function* contextOf(subject: Subject, index: number): Steps<string> {
  const call = callOf(subject, index)
  if (call === null) return ''
  const { paths } = (yield* callSubjects(subject, call.index))[call.position] ?? { paths: [] }
  return paths[0] ?? subject.messages[call.index]?.facts.callNames[call.position] ?? ''
}

/** What stands in view behind the messages in question, about: their ages count from there. */
const TAIL_TOKENS = 3000

/** As old as sixty thousand tokens: what the assistant never named itself. */
const NEVER_AGE = 6

const isNumber = /^[\d.,:-]+$/

/** Items sorted between two pauses: about a millisecond. */
const SORTED_PER_STEP = 1_000

function byWorth(one: { readonly worth: number }, other: { readonly worth: number }): number {
  return other.worth - one.worth
}

/** The items of sorted runs in one order. */
function* merged<Item extends { readonly worth: number }>(
  runs: readonly (readonly Item[])[],
): Generator<Item, void, void> {
  const taken = runs.map(() => 0)
  for (;;) {
    let best: Item | null = null
    let from = 0
    for (const [index, run] of runs.entries()) {
      const item = run[taken[index] ?? 0]
      if (item === undefined || (best !== null && item.worth <= best.worth)) continue
      best = item
      from = index
    }
    if (best === null) return
    taken[from] = (taken[from] ?? 0) + 1
    yield best
  }
}
