import { callsOf, isObject, textsOf, type WireMessage } from '../../support/strict-upstream/wire-message.ts'
import type { Tally } from './figures.ts'

/** What one message names and says. */
export type Reading = {
  readonly things: ReadonlySet<string>
  /** Its runs of six words. */
  readonly runs: ReadonlySet<string>
}

type Written = { readonly text: string; readonly message: WireMessage }

/** Reads messages, each of the same JSON text once: the same object comes back. */
export function openReader(): (written: Written) => Reading {
  const known = new Map<string, Reading>()
  return function read({ text, message }) {
    const before = known.get(text)
    if (before !== undefined) return before
    const texts = textsIn(message)
    const reading = {
      things: new Set(texts.flatMap((each) => [...thingsOf(each)])),
      runs: new Set(texts.flatMap((each) => [...runsOf(each)])),
    }
    known.set(text, reading)
    return reading
  }
}

/**
 * What a model reads in a message: each text of its content, and each text inside its calls' arguments. Runs of
 * words never cross from one to the next.
 */
export function textsIn(message: WireMessage): readonly string[] {
  const written = callsOf(message).flatMap(({ argumentsText }) => argumentTexts(argumentsText))
  return [...textsOf(message.content), ...written].map(unescaped)
}

/**
 * The specific things that a text names: paths and addresses, ids, numbers of three or more digits, e-mail addresses,
 * identifiers with inner capitals, underscores or dots. Written apart from the product's own list, so that the
 * recap is not measured by the rule that made it.
 */
export function thingsOf(text: string): ReadonlySet<string> {
  const things = new Set<string>()
  for (const [token] of text.matchAll(nameLike)) {
    // Longer ones are data: a line of base64, a minified script.
    if (token.length > THING_CHARS_MAX) continue
    const name = token.replace(/^(?:\.\/)+|^[.@~+-]+(?=\w)/, '').replace(/[.@~+/-]+$/, '')
    if (kinds.some((kind) => kind.test(name))) things.add(name)
  }
  return things
}

/** The runs of six words of a text, each written with single blanks. */
function runsOf(text: string): ReadonlySet<string> {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const runs = new Set<string>()
  for (let end = RUN_WORDS; end <= words.length; end += 1)
    runs.add(words.slice(end - RUN_WORDS, end).join(' '))
  return runs
}

/** What a model sees of a conversation at one request. */
export type Sight = {
  /** From now on these messages are seen, and no others. Costs what has changed since the last time. */
  readonly show: (readings: readonly Reading[]) => void
  readonly names: (thing: string) => boolean
  readonly says: (run: string) => boolean
}

export function openSight(): Sight {
  let shown: ReadonlySet<Reading> = new Set()
  const things = new Map<string, number>()
  const runs = new Map<string, number>()
  const change = (reading: Reading, by: 1 | -1) => {
    for (const thing of reading.things) things.set(thing, (things.get(thing) ?? 0) + by)
    for (const run of reading.runs) runs.set(run, (runs.get(run) ?? 0) + by)
  }
  return {
    show: (readings) => {
      const next = new Set(readings)
      for (const reading of shown) if (!next.has(reading)) change(reading, -1)
      for (const reading of next) if (!shown.has(reading)) change(reading, 1)
      shown = next
    },
    names: (thing) => (things.get(thing) ?? 0) > 0,
    says: (run) => (runs.get(run) ?? 0) > 0,
  }
}

/** What the true next message takes up again of what was there. */
export type Wanted = {
  readonly things: readonly string[]
  /** Those of them that the newest suffix has lost. */
  readonly far: readonly string[]
  readonly runs: readonly string[]
}

/** What of the next message stands in the whole history; what it brings in anew no view can hold. */
export function wantedOf(next: Reading, history: Sight, suffix: Sight): Wanted {
  const things = [...next.things].filter(history.names)
  return {
    things,
    far: things.filter((thing) => !suffix.names(thing)),
    runs: [...next.runs].filter(history.says),
  }
}

/** How much of it a view still holds. */
export function held(wanted: Wanted, view: Sight): Partial<Tally> {
  const names = (things: readonly string[]) => things.filter(view.names).length
  return {
    things: wanted.things.length,
    thingsHeld: names(wanted.things),
    farThings: wanted.far.length,
    farThingsHeld: names(wanted.far),
    runs: wanted.runs.length,
    runsHeld: wanted.runs.filter(view.says).length,
  }
}

/** The values of a call's arguments; the keys are the tool's, not the conversation's. */
function argumentTexts(argumentsText: string): readonly string[] {
  try {
    return leaves(JSON.parse(argumentsText))
  } catch {
    return [argumentsText]
  }
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(leaves)
  return isObject(value) ? Object.values(value).flatMap(leaves) : []
}

/**
 * A recap may quote arguments as the JSON that they were, where a line break is two characters. Every text is read
 * as if it had been quoted so, and both spellings of the same words are the same words.
 */
const unescaped = (text: string): string =>
  text.includes('\\') ? text.replaceAll(/\\+[nrt]/g, ' ').replaceAll(/\\+"/g, '"') : text

const THING_CHARS_MAX = 200

/** What stands between blanks, quotes, brackets and the punctuation that no name has inside; closing tags are none. */
const nameLike = /(?<!<(?=\/))[\w./@~+-]+/g

/** Each is tried on a whole name. A single step of a path has four characters, or sed's `/d` would be one. */
const kinds: readonly RegExp[] = [
  // path or address
  /\w\/\w|^[~.]*\/[\w.-]{4,}/,
  // e-mail address
  /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/,
  // number
  /^(?:\d\.?){3,}$/,
  // id
  /\d{3}/,
  /^(?=.*\d)(?=.*[a-f])[\da-f]{7,}$/i,
  // inner capitals, underscores, dots
  /[a-z][A-Z]/,
  /[a-z\d]_+[a-z\d]/i,
  /[a-z_][\w-]*\.[a-z_]\w/i,
]

const RUN_WORDS = 6
