import type { Steps } from '../../conversation/source.ts'
import type { CountSteps } from '../subject.ts'
import { bestFirst } from './best-first.ts'
import type { Mention } from './mentions.ts'
import { likelihoodOf, needsWords } from './rank.ts'
import { thingsIn } from './things.ts'

export type NameOptions = {
  readonly mentions: ReadonlyMap<string, Mention>
  /** What stands in the recap already. */
  readonly standing: ReadonlySet<string>
  readonly tokensMax: number
  readonly countSteps: CountSteps
  /** What a message deals with: things that were named in one context stand together behind it. */
  readonly contextOf: (index: number) => Steps<string>
}

/**
 * The lines that name the things which no quote shows, those that are most likely to come up again for their
 * size, as far as the cap allows: what says little by itself with the words around it, the others behind what
 * they were named with. Lines stand in the order in which their first thing was last named.
 */
export function* nameLines(options: NameOptions): Steps<string[]> {
  const { countSteps } = options
  const named = new Set(options.standing)
  const lines: Line[] = []
  const groups = new Map<string, Group>()
  let left = options.tokensMax
  let misses = 0
  let tried = 0
  for (const { name, shown, mention } of yield* entriesOf(options.mentions)) {
    if (misses >= MISSES_MAX) break
    if (named.has(name)) continue
    tried += 1
    if (tried % TRIED_PER_STEP === 0) yield
    const isBare = shown === name
    const context = isBare ? yield* options.contextOf(mention.latest) : ''
    const group = groups.get(context)
    const opening = group === undefined ? `\n- ${context === '' ? '' : `${context}:`}` : ''
    const tokens = yield* countSteps(isBare ? `${opening} ${name}` : `\n- ${shown}`)
    if (tokens > left) {
      misses += 1
      continue
    }
    left -= tokens
    if (!isBare) lines.push({ latest: mention.latest, text: shown })
    else if (group === undefined) groups.set(context, { latest: mention.latest, names: [name] })
    else group.names.push(name)
    for (const thing of thingsIn(isBare ? context : shown)) named.add(thing.name)
  }
  for (const [context, { latest, names }] of groups) {
    const others = names.filter((name) => name !== context)
    const text = context === '' ? others.join(' ') : [`${context}:`, ...others].join(' ')
    lines.push({ latest, text: others.length === 0 ? context : text })
  }
  return lines.sort((a, b) => a.latest - b.latest).map(({ text }) => `- ${text}`)
}

// --- internal ---

/** A thing as it would be written, with what it is worth for its size. */
type Entry = {
  readonly name: string
  readonly shown: string
  readonly worth: number
  readonly mention: Mention
}

type Line = { readonly latest: number; readonly text: string }
type Group = { readonly latest: number; readonly names: string[] }

/** What does not fit is passed over, since something shorter may; after so many the recap is full. */
const MISSES_MAX = 20

/** Characters of a token in names and the words around them, about: to rank by, not to count with. */
const CHARS_PER_TOKEN = 3

/** Names written between two pauses: each is counted, and a message may have to be read for its context. */
const TRIED_PER_STEP = 16

/** Names judged between two pauses: less than a millisecond. */
const JUDGED_PER_STEP = 1_000

/** The likeliest for their size first; of equals the one that was met first. */
function* entriesOf(mentions: ReadonlyMap<string, Mention>): Steps<Iterable<Entry>> {
  const entries: Entry[] = []
  for (const [name, mention] of mentions) {
    const shown = needsWords(name) ? mention.words : name
    const worth = likelihoodOf(name, mention) / (1 + shown.length / CHARS_PER_TOKEN)
    entries.push({ name, shown, worth, mention })
    if (entries.length % JUDGED_PER_STEP === 0) yield
  }
  return yield* bestFirst(entries)
}
