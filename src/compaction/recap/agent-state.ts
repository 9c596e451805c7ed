import type { Pausable } from '../../json/source.ts'
import { isFile } from '../history/calls/call-subject.ts'
import { type Deed, deedsOf } from '../history/calls/deeds.ts'
import { openWorkAt } from '../history/calls/open-work.ts'
import type { Fold } from '../compaction.ts'
import { passagesWithin } from '../history/kept-passages.ts'
import { messageNumber } from '../history/message-numbers.ts'
import { argumentLines, readMessage } from '../history/read-message.ts'
import { opensMessage, replyStart, type History } from '../history/history.ts'
import { harmless, inLabel, labels } from './headings.ts'

/** What the agent's world looks like at a point, told by what it did. */
export type World = ReturnType<typeof worldAt> extends Pausable<infer Found> ? Found : never

/**
 * The world at a point, `isInView` telling which messages can be read whole. `areNamed`: whether messages have names by which
 * they are read back; else their order tells where something was.
 */
export function* worldAt(
  history: History,
  point: number,
  isInView: (index: number) => boolean,
  areNamed: boolean,
  { frontier, keptTokensMax }: Pick<Fold, 'frontier' | 'keptTokensMax'>,
) {
  const deeds = (yield* deedsOf(history)).filter(({ index }) => index < point)
  const work = yield* openWorkAt(history, point)
  yield
  const { systemCount } = history.structure
  const orders: number[] = []
  for (let index = 0; index < (areNamed ? 0 : point); index += 1)
    orders.push((orders.at(-1) ?? 0) + (index >= systemCount && opensMessage(history, index) ? 1 : 0))
  const placeOf = (index: number): string =>
    areNamed ? messageNumber(index, systemCount) : `in message ${orders[index] ?? 0}`
  yield
  const asked = [...history.kept.keys()].filter((index) => index < frontier && !isInView(index))
  return {
    /** What was asked to be kept word for word and does not stand in view. */
    kept: yield* passagesWithin(history, asked, keptTokensMax),
    /** The list of work, if something of it is open and does not stand in view. */
    work: work === null || work.calls.every(isInView) ? null : work,
    files: fileLines(deeds, point, isInView, placeOf),
    /** The last call that failed, if it was not made again with another outcome. */
    failure: yield* failureIn(history, deeds, point, isInView, placeOf),
  }
}

/**
 * What the agent said and did, a line for each of its replies, oldest first: the beginning of its words, an arrow, and its
 * calls. The newest lines are the longest; those that no room is left for are left out.
 */
export function* diaryLines(
  history: History,
  indexes: readonly number[],
  tokensMax: number,
  nameOf: ((index: number) => string) | null,
): Pausable<readonly string[]> {
  const lines: string[] = []
  const seen = new Set<string>()
  let left = tokensMax
  const replies = repliesAmong(history, indexes)
  for (const [age, reply] of replies.toReversed().entries()) {
    const share = Math.max(LEAST_SHARE, 1 / (1 + age / HALF_LENGTH_REPLIES))
    const told = yield* lineOf(history, reply, share)
    // Of what was said or done again in the same words the newest counts.
    if (told === '' || seen.has(told)) continue
    seen.add(told)
    const line = `- ${nameOf === null ? '' : `${nameOf(reply[0] ?? 0)}: `}${told}`
    left -= yield* history.countSteps(`\n${line}`)
    if (left < 0) break
    lines.push(line)
  }
  return lines.toReversed()
}

// --- internal ---

/** A line for each file that was changed or read and whose last such call is out of view; the one touched last comes last. */
function fileLines(
  deeds: readonly Deed[],
  point: number,
  isInView: (index: number) => boolean,
  placeOf: (index: number) => string,
) {
  /** Where each file was last changed, and where last read. */
  const files = new Map<
    string,
    { change: number | null; look: number | null; isStale: boolean; last: number }
  >()
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
  history: History,
  deeds: readonly Deed[],
  point: number,
  isInView: (index: number) => boolean,
  placeOf: (index: number) => string,
): Pausable<string | null> {
  const answered = deeds.filter(({ result }) => result !== null && result < point)
  const last = answered.findLast(({ failed }) => failed)
  const result = history.messages[last?.result ?? -1]
  const call = history.messages[last?.index ?? -1]
  if (last === undefined || result === undefined || call === undefined) return null
  const isOver = answered.some(({ asked, index }) => asked === last.asked && index > last.index)
  if (isOver || isInView(last.result ?? -1)) return null
  const made = (yield* readMessage(history, call)).calls[last.position]
  const given = inLine(made?.argumentsText ?? '', GIVEN_CHARS_MAX)
  const said = inLine((yield* readMessage(history, result)).text, ANSWER_CHARS_MAX)
  return `${labels.call(made?.name ?? '')} ${placeOf(last.index)}: ${given} → ${said}`
}

const SAID_CHARS = 240
const CALLED_CHARS = 180

/** So many replies before the newest, a line is half as long. */
const HALF_LENGTH_REPLIES = 6

/** No line is shorter than this share of the newest: what is less tells nothing. */
const LEAST_SHARE = 0.5

/** The messages of each reply, ascending; what is no reply's is left out. */
function repliesAmong(history: History, indexes: readonly number[]): readonly (readonly number[])[] {
  const own = indexes.filter((index) => history.messages[index]?.facts.role === 'assistant')
  return [...Map.groupBy(own, (index) => replyStart(history, index)).values()]
}

function* lineOf(history: History, reply: readonly number[], share: number): Pausable<string> {
  const said: string[] = []
  const called: string[] = []
  for (const index of reply) {
    const message = history.messages[index]
    if (message === undefined) continue
    const { text, calls } = yield* readMessage(history, message)
    if (text.trim() !== '') said.push(text.slice(0, 2 * SAID_CHARS))
    const charsMax = Math.floor((CALLED_CHARS * share) / Math.max(1, Math.min(calls.length, CALLS_TOLD)))
    for (const { name, argumentsText } of calls.slice(0, CALLS_TOLD)) {
      const given = inLine(yield* argumentLines(argumentsText, 'what-stays'), charsMax)
      called.push(`${inLabel(name)} ${given}`)
    }
    if (calls.length > CALLS_TOLD) called.push(`${calls.length - CALLS_TOLD} more calls`)
    yield
  }
  const words = inLine(said.join(' '), Math.floor(SAID_CHARS * share))
  return [words, called.join('; ')].filter((part) => part !== '').join(' → ')
}

/** Of a reply with more calls than this the others are told by their number. */
const CALLS_TOLD = 4

/** A text in one line, cut to so many characters. */
function inLine(text: string, charsMax: number): string {
  const line = text
    .slice(0, 2 * charsMax)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return harmless(line.length <= charsMax ? line : `${line.slice(0, charsMax)}…`)
}
