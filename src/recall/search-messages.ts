import { messageNumber } from '../compaction/history/message-numbers.ts'
import type { Subject } from '../compaction/history/subject.ts'
import { type LeftOut, ownLine, type Segment, segmentsOf, segmentText, unforgedLines } from './segments.ts'
import { pausing, type RecallAnswer } from './page.ts'
import { type Asked, lastNumber, type RecallQuery, runsText, runsWithin } from './recall-query.ts'
import { wantedWords, type WantedWords, type WordPlace } from './wanted-words.ts'
import { argumentLines } from '../compaction/history/read-message.ts'
import type { Steps } from '../json/source.ts'

/**
 * Where words stand in messages that are not in the view word for word, or in those that are named: the whole phrase
 * first, then all words, the newest first; where no message at all holds all of them, those that hold the most. Of equal
 * excerpts, which older copies of a file give, the newest stands for all.
 */
export function searchMessages(
  subject: Subject,
  leftOut: readonly LeftOut[],
  { text, among }: Extract<RecallQuery, { kind: 'search' }>,
): RecallAnswer {
  const asked = among === null ? {} : { messages: runsText(among.runs) }
  return {
    pieces: pieces(subject, leftOut, wantedWords(text), among),
    goOn: (offset) => ({ ...asked, search: text, offset }),
    hasEnd: true,
  }
}

// --- internal ---

/** Of other messages that hold the same, so many are named. */
const ALSO_NAMED_MAX = 8

function* pieces(
  subject: Subject,
  leftOut: readonly LeftOut[],
  wanted: WantedWords,
  among: Asked | null,
): RecallAnswer['pieces'] {
  const searched = among === null ? leftOut.map(({ index }) => index) : indexesOf(subject, among)
  const hits = yield* hitsIn(subject, searched, wanted)
  const whole = hits.filter(({ rank }) => rank < PARTIAL_RANK)
  if (whole.length === 0) {
    const elsewhere = yield* foundElsewhere(subject, new Set(searched), wanted)
    yield `${ownLine(nothingFound(subject, elsewhere, among))}\n`
    if (elsewhere.length > 0) return
  }
  // Of those that hold some of the words, the ones that hold the most.
  const shown = whole.length > 0 ? whole : hits.filter(({ rank }) => rank === hits[0]?.rank)
  if (shown.length === 0) return
  const what = whole.length > 0 ? 'these hold it' : 'these hold some of the words'
  yield `${ownLine(`${what}, the best match first, then the newest; read with "messages" and "offset"`)}\n`
  for (const { hit, also } of collapsed(shown)) {
    const others = also.length === 0 ? '' : `, also in ${namesOf(subject, also)}`
    yield `${hit.label} offset ${hit.offset}${others}\n${hit.excerpt}\n`
  }
}

function indexesOf(subject: Subject, { runs }: Asked): number[] {
  return runsWithin(runs, lastNumber(subject)).flatMap(({ first, last }) =>
    Array.from(
      { length: last - first + 1 },
      (_, offset) => first - 1 + offset + subject.structure.systemCount,
    ),
  )
}

/** The hits in these messages, the best first, then the newest. */
function* hitsIn(
  subject: Subject,
  indexes: readonly number[],
  wanted: WantedWords,
): Generator<string, Hit[], void> {
  const hits: Hit[] = []
  for (const index of indexes) {
    const hit = yield* pausing(findInMessage(subject, index, wanted))
    if (hit !== null) hits.push(hit)
    yield ''
  }
  return hits.sort((one, other) => one.rank - other.rank || other.index - one.index)
}

/** The other messages that hold all of the words, the newest first. */
function* foundElsewhere(
  subject: Subject,
  searched: ReadonlySet<number>,
  wanted: WantedWords,
): Generator<string, number[], void> {
  const found: number[] = []
  for (const index of subject.messages.keys()) {
    if (searched.has(index)) continue
    const hit = yield* pausing(findInMessage(subject, index, wanted))
    if (hit !== null && hit.rank < PARTIAL_RANK) found.push(index)
    yield ''
  }
  return found.toReversed()
}

/** Says where else it stands, so that nobody goes on searching for what is there to be read. */
function nothingFound(subject: Subject, elsewhere: readonly number[], among: Asked | null): string {
  const names = namesOf(subject, elsewhere)
  if (among !== null) {
    const told = elsewhere.length === 0 ? 'and no other message does' : `it stands in ${names}`
    return `none of these messages holds it; ${told}`
  }
  const told =
    elsewhere.length === 0 ? 'and no message above does' : `above, word for word, it stands in ${names}`
  return `nothing that was left out holds it; ${told}`
}

type Collapsed = { readonly hit: Hit; readonly also: number[] }

/** Equal excerpts as one. */
function collapsed(hits: readonly Hit[]): Iterable<Collapsed> {
  const byExcerpt = new Map<string, Collapsed>()
  for (const hit of hits) {
    const key = hit.excerpt.replaceAll(/\s+/g, ' ')
    const known = byExcerpt.get(key)
    if (known === undefined) byExcerpt.set(key, { hit, also: [] })
    else known.also.push(hit.index)
  }
  return byExcerpt.values()
}

function namesOf(subject: Subject, indexes: readonly number[]): string {
  const { systemCount } = subject.structure
  const names = indexes
    .slice(0, ALSO_NAMED_MAX)
    .map((index) => (index < systemCount ? 'the system message' : messageNumber(index, systemCount)))
  const more = indexes.length > ALSO_NAMED_MAX ? [`${indexes.length - ALSO_NAMED_MAX} more`] : []
  return [...new Set(names), ...more].join(', ')
}

/** What a message holds of the words that are searched for. */
type Hit = {
  readonly index: number
  /** The line that names the text in which they stand. */
  readonly label: string
  readonly excerpt: string
  /** Where reading the message begins shortly before them, in characters. */
  readonly offset: number
  /** How well they match; smaller is better. Below `PARTIAL_RANK` all words are there. */
  readonly rank: number
}

/** From this rank on words are missing, one more at each. */
const PARTIAL_RANK = 10

/** Looks for the words in all texts of a message; null where none of them is there. */
function* findInMessage(subject: Subject, index: number, wanted: WantedWords): Steps<Hit | null> {
  const texts = yield* searchedTexts(yield* segmentsOf(subject, index))
  const places = yield* placesOf(texts, wanted)
  const missing = wanted.count - places.length
  const [first] = places
  if (first === undefined) return null
  const phrase = missing === 0 ? yield* phraseOf(texts, wanted) : null
  if (phrase !== null) return hitOf(index, [phrase], phrase.looseness)
  const rank = missing === 0 ? (places.every(({ isOwn }) => isOwn) ? 3 : 4) : PARTIAL_RANK + missing
  return hitOf(index, places, rank)
}

/** A text of a message that words may stand in. */
type Searched = {
  readonly segment: Segment
  readonly text: string
  /** Where the text of the segment begins when the message is read. */
  readonly offset: number
  /** Whether an index in `text` is one in the segment's own text; false for a tool's name, and for arguments shown without their escapes. */
  readonly isText: boolean
}

type Place = WordPlace & { readonly at: Searched }

/** How much is read before what was found. */
const LEAD_CHARS = 200

/** Words that stand apart from each other are shown at so many places. */
const EXCERPTS_MAX = 3

function* searchedTexts(segments: readonly Segment[]): Steps<Searched[]> {
  const searched: Searched[] = []
  let begin = 0
  for (const segment of segments) {
    const offset = begin + segment.label.length + 1
    begin += segmentText(segment).length
    searched.push({ segment, text: segment.text, offset, isText: true })
    if (segment.calls === null) continue
    // Line breaks and quotes stand in arguments as they are spelt there, and a model knows them by what they mean.
    const isSpelt = segment.text.includes('\\')
    const lines = isSpelt ? yield* unforgedLines(yield* argumentLines(segment.text)) : segment.text
    if (lines !== segment.text) searched.push({ segment, text: lines, offset, isText: false })
    searched.push({ segment, text: segment.calls, offset, isText: false })
  }
  return searched
}

function* placesOf(
  texts: readonly Searched[],
  wanted: WantedWords,
): Steps<(Place & { readonly isOwn: boolean })[]> {
  const places: (Place & { readonly isOwn: boolean })[] = []
  for (let position = 0; position < wanted.count; position += 1) {
    let best: (Place & { readonly isOwn: boolean }) | null = null
    for (const at of texts) {
      const found = yield* wanted.wordIn(at.text, position)
      if (found !== null && (best === null || (found.isOwn && !best.isOwn))) best = { ...found, at }
      if (best?.isOwn === true) break
    }
    if (best !== null) places.push(best)
  }
  return places
}

function* phraseOf(
  texts: readonly Searched[],
  wanted: WantedWords,
): Steps<(Place & { readonly looseness: number }) | null> {
  let best: (Place & { readonly looseness: number }) | null = null
  for (const at of texts) {
    const found = yield* wanted.phraseIn(at.text)
    if (found !== null && found.looseness < (best?.looseness ?? Infinity)) best = { ...found, at }
  }
  return best
}

function hitOf(index: number, places: readonly Place[], rank: number): Hit | null {
  const [first] = places
  if (first === undefined) return null
  const excerpts: string[] = []
  const shown: { readonly at: Searched; readonly from: number; readonly to: number }[] = []
  for (const { at, start, end } of places) {
    if (excerpts.length === EXCERPTS_MAX) break
    if (shown.some((other) => other.at === at && start >= other.from && end <= other.to)) continue
    // A tool's name is no text to cut from: how its arguments begin says what was called.
    const isName = at.text === at.segment.calls && !at.isText
    const excerpt = isName
      ? excerptAround(at.segment.text, BEGINNING)
      : excerptAround(at.text, { start, end })
    shown.push({ at, from: start - SHOWN_AROUND_CHARS, to: end + SHOWN_AROUND_CHARS })
    if (!excerpts.includes(excerpt)) excerpts.push(excerpt)
  }
  const offset = first.at.offset + (first.at.isText ? lineNear(first.at.text, first.start) : 0)
  return { index, label: first.at.segment.label, excerpt: excerpts.join('\n…\n'), offset, rank }
}

const BEGINNING: WordPlace = { start: 0, end: 0 }

/** What stands so near to something that is shown is shown with it, mostly. */
const SHOWN_AROUND_CHARS = 60

/** A place shortly before another: a line's beginning where there is one. */
function lineNear(text: string, start: number): number {
  const from = Math.max(0, start - LEAD_CHARS)
  if (from === 0) return 0
  const lineEnd = text.slice(from, start).indexOf('\n')
  return lineEnd === -1 ? from : from + lineEnd + 1
}

/** What was found with the words around it: its lines, cut where they are long, and a short line before and behind them. */
function excerptAround(text: string, { start, end }: WordPlace): string {
  const before = text.slice(Math.max(0, start - AROUND_CHARS), start)
  const after = text.slice(end, end + AROUND_CHARS)
  const lineStart = before.lastIndexOf('\n')
  const lineEnd = after.indexOf('\n')
  const isCutBefore = lineStart === -1 && start > before.length
  const isCutAfter = lineEnd === -1 && end + after.length < text.length
  const from = start - before.length + (isCutBefore ? firstWord(before) : lineStart + 1)
  const to = end + (isCutAfter ? lastWord(after) : lineEnd === -1 ? after.length : lineEnd)
  const lines = [
    ...(isCutBefore ? [] : lineBefore(text, from)),
    (isCutBefore ? '…' : '') + text.slice(from, to) + (isCutAfter ? '…' : ''),
    ...(isCutAfter ? [] : lineBehind(text, to)),
  ]
  return lines.join('\n')
}

/** Characters of a line on either side. */
const AROUND_CHARS = 160

/** A neighbouring line is shown if it is no longer than this. */
const NEIGHBOUR_CHARS = 100

/** Behind the first blank nearby: what is cut begins with a word, unless the word is longer than that. */
function firstWord(before: string): number {
  const blank = before.slice(0, AROUND_CHARS / 2).search(/\s/)
  return blank === -1 ? pairsOff(before.charCodeAt(0)) : blank + 1
}

function lastWord(after: string): number {
  const kept = after.length / 2
  const blank = after.slice(kept).search(/\s\S*$/)
  if (blank !== -1) return kept + blank
  const isLead = (after.charCodeAt(after.length - 1) & 0xfc00) === 0xd800
  return isLead ? after.length - 1 : after.length
}

/** One where a text begins with the second half of a character. */
function pairsOff(unit: number): number {
  return (unit & 0xfc00) === 0xdc00 ? 1 : 0
}

function lineBefore(text: string, lineStart: number): string[] {
  if (lineStart === 0) return []
  const before = text.slice(Math.max(0, lineStart - 1 - NEIGHBOUR_CHARS - 1), lineStart - 1)
  const line = before.slice(before.lastIndexOf('\n') + 1)
  return line.length <= NEIGHBOUR_CHARS && line.trim() !== '' ? [line] : []
}

function lineBehind(text: string, lineEnd: number): string[] {
  const after = text.slice(lineEnd + 1, lineEnd + 1 + NEIGHBOUR_CHARS + 1)
  const end = after.indexOf('\n')
  const line = end === -1 ? after : after.slice(0, end)
  return line.length <= NEIGHBOUR_CHARS && line.trim() !== '' ? [line] : []
}
