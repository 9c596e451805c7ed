import { messageNumber } from '../subject/message-numbers.ts'
import type { Subject } from '../subject/subject.ts'
import { findInMessage, PARTIAL_RANK, type Hit } from './find-in-message.ts'
import type { LeftOut } from './left-out.ts'
import { ownLine } from './own-lines.ts'
import { pausing, type RecallAnswer } from './page.ts'
import { lastNumber, runsWithin } from './read-messages.ts'
import { runsText, type Asked, type RecallQuery } from './recall-query.ts'
import { wantedWords, type WantedWords } from './wanted-words.ts'

type SearchQuery = Extract<RecallQuery, { kind: 'search' }>

/**
 * Where words stand in messages that are not in the view word for word, or in those that are named: the whole phrase
 * first, then all words, the newest first; where no message at all holds all of them, those that hold the most. Of equal
 * excerpts, which older copies of a file give, the newest stands for all.
 */
export function searchMessages(
  subject: Subject,
  leftOut: readonly LeftOut[],
  { text, among }: SearchQuery,
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
