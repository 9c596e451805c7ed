import { argumentLines } from '../compaction/history/read-message.ts'
import { messageNumber } from '../compaction/history/message-numbers.ts'
import type { History } from '../compaction/history/history.ts'
import type { Pausable } from '../json/source.ts'
import type { RecallQuery } from './recall-tool.ts'
import {
  type LeftOut,
  ownLine,
  type Pieces,
  type Segment,
  segmentsOf,
  segmentText,
  unforgedLines,
} from './segments.ts'

/**
 * Where words stand in messages that are not in the view word for word, or in those that are named: the whole phrase
 * first, then all words, the newest first; where no message at all holds all of them, those that hold the most. Of equal
 * excerpts, which older copies of a file give, the newest stands for all.
 */
export function* searchMessages(
  history: History,
  leftOut: readonly LeftOut[],
  { text, among }: Extract<RecallQuery, { kind: 'search' }>,
): Pieces {
  const { systemCount } = history.structure
  const runs = among ?? []
  const out = new Set(leftOut.map(({ index }) => index))
  const isSearched = ({ index }: Hit): boolean => {
    const number = index - systemCount + 1
    return among === null ? out.has(index) : runs.some(({ first, last }) => number >= first && number <= last)
  }
  const hits = yield* hitsIn(history, text)
  const searched = hits.filter(isSearched)
  let shown = searched.filter(({ rank }) => rank < PARTIAL_RANK)
  const holdsIt = shown.length > 0
  if (!holdsIt) {
    // Where else it stands, so that nobody goes on searching for what is there to be read.
    const elsewhere = hits.filter((hit) => hit.rank < PARTIAL_RANK && !isSearched(hit))
    yield `${ownLine(nothingFound(history, elsewhere, among !== null))}\n`
    if (elsewhere.length > 0) return
    shown = searched.filter(({ rank }) => rank === searched[0]?.rank)
  }
  if (shown.length === 0) return
  const what = holdsIt ? 'these hold it' : 'these hold some of the words'
  yield `${ownLine(`${what}, the best match first, then the newest; read with "messages" and "offset"`)}\n`
  for (const [first, ...others] of Map.groupBy(shown, ({ excerpt }) => excerpt).values()) {
    if (first === undefined) continue
    const also = others.length === 0 ? '' : `, also in ${namesOf(history, others)}`
    yield `${first.label} offset ${first.offset}${also}\n${first.excerpt}\n`
  }
}

// --- internal ---

function nothingFound(history: History, elsewhere: readonly Hit[], isAmong: boolean): string {
  const which = isAmong ? 'none of these messages holds it' : 'nothing that was left out holds it'
  if (elsewhere.length === 0) return `${which}; and no ${isAmong ? 'other message' : 'message above'} does`
  return `${which}; ${isAmong ? '' : 'above, word for word, '}it stands in ${namesOf(history, elsewhere)}`
}

/** Of messages that hold the same, so many are named. */
const NAMED_MAX = 8

function namesOf(history: History, hits: readonly Hit[]): string {
  const { systemCount } = history.structure
  const names = hits
    .slice(0, NAMED_MAX)
    .map(({ index }) => (index < systemCount ? 'the system message' : messageNumber(index, systemCount)))
  const more = hits.length > NAMED_MAX ? [`${hits.length - NAMED_MAX} more`] : []
  return [...new Set(names), ...more].join(', ')
}

type Hit = Match & { readonly index: number }

/** What a message holds of the words that are searched for. */
type Match = {
  /** The line that names the text in which they stand. */
  readonly label: string
  readonly excerpt: string
  /** Where reading the message begins shortly before them, in characters. */
  readonly offset: number
  /**
   * How well they match; smaller is better: from 0 the phrase as a name, as words, within words, then all words apart. Below
   * `PARTIAL_RANK` all words are there.
   */
  readonly rank: number
}

/** From this rank on words are missing, one more at each. */
const PARTIAL_RANK = 10

/** More words than these tell nothing more apart. */
const WORDS_MAX = 16

/** The hits in all messages, the best first, then the newest. `text`: words, with single blanks between them. */
function* hitsIn(history: History, text: string): Pausable<Hit[]> {
  const escaped = text.split(' ').map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
  const phrase = escaped.join(String.raw`\s+`)
  const nameCharacters = String.raw`\p{L}\p{N}_/@~+\-`
  const phrases = [
    phrase,
    // Not a part of a longer word.
    String.raw`(?<![\p{L}\p{N}_])${phrase}(?![\p{L}\p{N}_])`,
    // Nor of a longer path, address or number. What ends a sentence belongs to no name.
    String.raw`(?<![${nameCharacters}.])${phrase}(?![${nameCharacters}]|\.[\p{L}\p{N}_])`,
  ].map((pattern) => new RegExp(pattern, 'iu'))
  const words = [...new Set(escaped)].slice(0, WORDS_MAX).map((word) => new RegExp(word, 'iu'))
  const hits: Hit[] = []
  for (const index of history.messages.keys()) {
    const texts = yield* searchedTexts(yield* segmentsOf(history, index))
    const hit = (yield* phraseIn(texts, phrases)) ?? (yield* wordsIn(texts, words))
    if (hit !== null) hits.push({ ...hit, index })
    yield
  }
  return hits.sort((one, other) => one.rank - other.rank || other.index - one.index)
}

/** The phrase where it stands in the strictest way: each pattern is stricter than the one before. */
function* phraseIn(texts: readonly Searched[], phrases: readonly RegExp[]): Pausable<Match | null> {
  let best: Match | null = null
  for (const [position, pattern] of phrases.entries()) {
    const place = yield* placeOf(texts, pattern)
    if (place === null) break
    best = { ...hitAt([place]), rank: phrases.length - 1 - position }
  }
  return best
}

function* wordsIn(texts: readonly Searched[], words: readonly RegExp[]): Pausable<Match | null> {
  const places: Place[] = []
  for (const word of words) {
    const place = yield* placeOf(texts, word)
    if (place !== null) places.push(place)
  }
  const missing = words.length - places.length
  return places.length === 0 ? null : { ...hitAt(places), rank: missing === 0 ? 3 : PARTIAL_RANK + missing }
}

/** A text of a message that words may stand in. */
type Searched = {
  readonly label: string
  readonly text: string
  /** Where the text begins when the message is read. */
  readonly offset: number
  /** Whether `text` is read like that: a tool's name is not, nor are arguments without their escapes. */
  readonly isRead: boolean
  /** What an excerpt is taken from: of a tool's name how its arguments begin, which says what was called. */
  readonly shown: string
}

function* searchedTexts(segments: readonly Segment[]): Pausable<Searched[]> {
  const searched: Searched[] = []
  let begin = 0
  for (const segment of segments) {
    const { label, calls, text } = segment
    const at = { label, offset: begin + label.length + 1 }
    begin += segmentText(segment).length
    searched.push({ ...at, text, isRead: true, shown: text })
    if (calls === null) continue
    // Line breaks and quotes stand in arguments as they are spelt there, and a model knows them by what they mean.
    if (text.includes('\\')) {
      const lines = yield* unforgedLines(yield* argumentLines(text))
      searched.push({ ...at, text: lines, isRead: false, shown: lines })
    }
    searched.push({ ...at, text: calls, isRead: false, shown: text })
  }
  return searched
}

/** Where something was found. */
type Place = { readonly at: Searched; readonly start: number; readonly end: number }

/** What is searched between two pauses: some milliseconds. All that recorded conversations hold in one text. */
const WINDOW_CHARS = 262_144

/** What begins in one window may reach into the next: more than the longest phrase takes. */
const REACHING_CHARS = 4_096

/** A shorter text is searched in a tenth of a millisecond. */
const PAUSED_CHARS_MIN = 16_384

/** A character before, or the pair that is one. */
const LOOKED_BACK_CHARS = 2

function* placeOf(texts: readonly Searched[], pattern: RegExp): Pausable<Place | null> {
  for (const at of texts) {
    for (let window = 0; window < at.text.length; window += WINDOW_CHARS) {
      const from = Math.max(0, window - LOOKED_BACK_CHARS)
      const match = pattern.exec(at.text.slice(from, window + WINDOW_CHARS + REACHING_CHARS))
      if (match !== null) return { at, start: from + match.index, end: from + match.index + match[0].length }
      if (at.text.length > PAUSED_CHARS_MIN) yield
    }
  }
  return null
}

/** Words that stand apart from each other are shown at so many places. */
const EXCERPTS_MAX = 3

/** How much is read before what was found. */
const LEAD_CHARS = 200

function hitAt(places: readonly Place[]): Pick<Hit, 'label' | 'excerpt' | 'offset'> {
  const [first] = places
  const apart = places.filter((place, position) =>
    places.slice(0, position).every((other) => other.at !== place.at || !isNear(other, place)),
  )
  const excerpts = new Set(apart.slice(0, EXCERPTS_MAX).map(excerptAt))
  const lead = first?.at.isRead === true ? Math.max(0, first.start - LEAD_CHARS) : 0
  return {
    label: first?.at.label ?? '',
    excerpt: [...excerpts].join('\n…\n'),
    offset: (first?.at.offset ?? 0) + lead,
  }
}

/** Characters that are shown on either side of what was found. */
const AROUND_CHARS = 160

/** Whether an excerpt around one shows the other. */
function isNear(one: Place, other: Place): boolean {
  return Math.abs(one.start - other.start) < AROUND_CHARS / 2
}

/** What was found with the words around it. */
function excerptAt({ at, start, end }: Place): string {
  const { shown } = at
  const [from, to] =
    shown === at.text
      ? [Math.max(0, start - AROUND_CHARS), Math.min(shown.length, end + AROUND_CHARS)]
      : [0, Math.min(shown.length, AROUND_CHARS)]
  const text = shown.slice(from, to).toWellFormed()
  // Whole words, as far as they are no longer than what is shown of them.
  const before = from === 0 ? text : `…${text.replace(/^\S{0,80}\s+/, '')}`
  return (to === shown.length ? before : `${before.replace(/(?<!\s)\s+\S{0,80}$/, '')}…`).trim()
}
