import type { Steps } from '../../conversation/source.ts'
import { isFile } from '../calls/command-files.ts'
import { deedsOf, type Deed } from '../calls/deeds.ts'
import { openWorkAt, type OpenWork } from '../calls/open-work.ts'
import type { Fold } from '../compaction.ts'
import { passagesWithin } from '../kept-passages.ts'
import { messageNumber } from '../message-numbers.ts'
import { readMessage } from '../read-message.ts'
import { opensMessage, type Subject } from '../subject.ts'
import { labels } from './headings.ts'

/** What the agent's world looks like at a point, told by what it did. */
export type World = {
  /** What was asked to be kept word for word and does not stand in view. */
  readonly kept: readonly string[]
  /** The list of work, if something of it is open and does not stand in view. */
  readonly work: OpenWork | null
  /** A line for each file that was changed or read and whose last such call is out of view; the one touched last comes last. */
  readonly files: readonly { readonly line: string; readonly isChanged: boolean }[]
  /** The last call that failed, if it was not made again with another outcome. */
  readonly failure: string | null
}

/** Results of calls that name a file which a later call has changed, or which was read so again and had become another. */
export function* staleResults(subject: Subject, point: number): Steps<ReadonlySet<number>> {
  const stale = new Set<number>()
  const shown = new Map<string, Shown[]>()
  for (const [order, deed] of (yield* deedsOf(subject)).entries()) {
    if (order % DEEDS_PER_STEP === DEEDS_PER_STEP - 1) yield
    const { result, failed, asked, paths, changed, work, index } = deed
    if (index >= point) break
    // The list is told as it is now, or not at all.
    if (work !== null && result !== null) stale.add(result)
    for (const path of failed ? [] : paths) {
      const before = shown.get(path) ?? []
      const isOver = (older: Shown): boolean =>
        changed.includes(path) || (older.asked === asked && isOther(subject, older, result))
      for (const older of before) if (isOver(older)) stale.add(older.result)
      const left = before.filter((older) => !isOver(older)).slice(-SHOWN_MAX)
      // What refers to an earlier result says nothing new.
      const isShown = result !== null && result < point && !subject.references.byIndex.has(result)
      shown.set(path, isShown ? [...left, { asked, result }] : left)
    }
  }
  return stale
}

/**
 * The world at a point, `isInView` telling which messages can be read whole. `areNamed`: whether messages have names by which
 * they are read back; else their order tells where something was.
 */
export function* worldAt(
  subject: Subject,
  point: number,
  isInView: (index: number) => boolean,
  areNamed: boolean,
  { frontier, keptTokensMax }: Pick<Fold, 'frontier' | 'keptTokensMax'>,
): Steps<World> {
  const deeds = (yield* deedsOf(subject)).filter(({ index }) => index < point)
  const work = yield* openWorkAt(subject, point)
  yield
  const { systemCount } = subject.structure
  const orders: number[] = []
  for (let index = 0; index < (areNamed ? 0 : point); index += 1)
    orders.push((orders.at(-1) ?? 0) + (index >= systemCount && opensMessage(subject, index) ? 1 : 0))
  const placeOf = (index: number): string =>
    areNamed ? messageNumber(index, systemCount) : `in message ${orders[index] ?? 0}`
  yield
  const asked = [...subject.kept.keys()].filter((index) => index < frontier && !isInView(index))
  return {
    kept: yield* passagesWithin(subject, asked, keptTokensMax),
    work: work === null || work.calls.every(isInView) ? null : work,
    files: fileLines(deeds, point, isInView, placeOf),
    failure: yield* failureIn(subject, deeds, point, isInView, placeOf),
  }
}

// --- internal ---

/** A result that says something of a file. */
type Shown = { readonly asked: string; readonly result: number }

const DEEDS_PER_STEP = 256

/** Of one file no more results are looked at. */
const SHOWN_MAX = 64

function isOther({ messages }: Subject, older: Shown, newer: number | null): boolean {
  return newer !== null && messages[older.result]?.facts.meaning !== messages[newer]?.facts.meaning
}

/** Where a file was last changed, and where last read. */
type Touched = { readonly change: number | null; readonly look: number | null; readonly isStale: boolean }

function fileLines(
  deeds: readonly Deed[],
  point: number,
  isInView: (index: number) => boolean,
  placeOf: (index: number) => string,
): World['files'] {
  const files = new Map<string, Touched & { readonly last: number }>()
  for (const { index, result, failed, paths, changed, isLook } of deeds) {
    for (const path of failed ? [] : paths) {
      const before = files.get(path) ?? { change: null, look: null, isStale: false }
      const isChanged = changed.includes(path)
      const isRead = isLook && result !== null && result < point && isFile(path)
      if (!isChanged && !isRead) continue
      files.delete(path)
      if (isChanged) files.set(path, { ...before, change: index, isStale: true, last: index })
      else files.set(path, { ...before, look: result, isStale: false, last: index })
    }
  }
  return [...files].flatMap(([path, { change, look, isStale, last }]) => {
    if (isInView(last)) return []
    const became = isStale ? 'changed since' : look !== null && isInView(look) ? 'in view' : 'left out'
    const touched = [
      ...(change === null ? [] : [`changed ${placeOf(change)}`]),
      ...(look === null ? [] : [`read ${placeOf(look)}, ${became}`]),
    ]
    return [{ line: `- ${path}: ${touched.join('; ')}`, isChanged: change !== null }]
  })
}

const GIVEN_CHARS_MAX = 160
const ANSWER_CHARS_MAX = 240

function* failureIn(
  subject: Subject,
  deeds: readonly Deed[],
  point: number,
  isInView: (index: number) => boolean,
  placeOf: (index: number) => string,
): Steps<string | null> {
  const answered = deeds.filter(({ result }) => result !== null && result < point)
  const last = answered.findLast(({ failed }) => failed)
  const result = subject.messages[last?.result ?? -1]
  const call = subject.messages[last?.index ?? -1]
  if (last === undefined || result === undefined || call === undefined) return null
  const isOver = answered.some(({ asked, index }) => asked === last.asked && index > last.index)
  if (isOver || isInView(last.result ?? -1)) return null
  const made = (yield* readMessage(subject, call)).calls[last.position]
  const given = inLine(made?.argumentsText ?? '', GIVEN_CHARS_MAX)
  const said = inLine((yield* readMessage(subject, result)).text, ANSWER_CHARS_MAX)
  return `${labels.call(made?.name ?? '')} ${placeOf(last.index)}: ${given} → ${said}`
}

function inLine(text: string, charsMax: number): string {
  const line = text
    .slice(0, 2 * charsMax)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length <= charsMax ? line : `${line.slice(0, charsMax)}…`
}
