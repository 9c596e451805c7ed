import { argumentLines } from '../subject/looked-at.ts'
import type { Subject } from '../subject/subject.ts'
import type { Steps } from '../conversation/source.ts'
import { excerptAround } from './excerpt.ts'
import { unforgedLines } from './own-lines.ts'
import { segmentsOf, segmentText, type Segment } from './segments.ts'
import type { WordPlace, WantedWords } from './wanted-words.ts'

/** What a message holds of the words that are searched for. */
export type Hit = {
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
export const PARTIAL_RANK = 10

/** Looks for the words in all texts of a message; null where none of them is there. */
export function* findInMessage(subject: Subject, index: number, wanted: WantedWords): Steps<Hit | null> {
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

// --- internal ---

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
