import type { Pausable } from '../json/source.ts'
import type { StandingSummary, SummaryRange, PreparedFold } from './compaction.ts'
import { covers, rangeIndexes } from './folded-parts.ts'
import { numberRange } from './history/message-numbers.ts'
import { createWriter, harmless } from './recap/headings.ts'
import { writeSystem, writeUsers } from './recap/user/said.ts'
import type { History } from './history/history.ts'

/** The tags around a summary, by which a model and a later pass can tell it from the user's words. */
export const SUMMARY_OPEN = '<conversation-summary>'
const SUMMARY_CLOSE = '</conversation-summary>'

const INTRODUCTION = 'Earlier messages were left out here to fit the context window. This stands for them:'

export type StandingOptions = {
  /** What the model wrote. */
  readonly written: string
  /**
   * How much the distinct system messages among what it stands for may take, in tokens, and as much again what the
   * user said there; 0 where a recap beside it quotes them.
   */
  readonly systemTokensMax: number
  /** Where what it stands for can be read back (`summaryNote`); '' where nowhere. */
  readonly note: string
}

/**
 * What a model wrote of a range of messages, as it stands in views from now on: behind what the user said among them and
 * the distinct system messages, newest first, word for word as far as `systemTokensMax` allows, and with its weight.
 */
export function* standingSummary(
  history: History,
  range: SummaryRange,
  { written, systemTokensMax, note }: StandingOptions,
): Pausable<StandingSummary> {
  const { start, end, except } = range
  const quoted = yield* quotesOf(history, range, systemTokensMax)
  const text = harmless(written)
  return yield* withNote(history, { start, end, except, quoted, text, tokens: 0, note: '' }, note)
}

/** The text of the message in which a summary stands. */
export function summaryText({
  quoted,
  text,
  note,
}: Pick<StandingSummary, 'quoted' | 'text' | 'note'>): string {
  const parts = [note, quoted].filter((part) => part !== '')
  return [SUMMARY_OPEN, INTRODUCTION, ...parts, text, SUMMARY_CLOSE].join('\n')
}

export type NoteOptions = {
  /** Whether it names the messages, for a model that can ask for them. */
  readonly namesMessages: boolean
  /** The file that holds them, for one that can read it; null where it is not to be named, or there is none. */
  readonly file: string | null
}

/** What a summary says of where the messages that it stands for can be read back; '' where nowhere. */
export function summaryNote(
  range: SummaryRange,
  systemCount: number,
  { namesMessages, file }: NoteOptions,
): string {
  const sentences: string[] = []
  if (namesMessages) sentences.push(`These were messages ${summarisedRange(range, systemCount)}.`)
  if (file !== null) sentences.push(`What they said stands word for word in the file ${file}`)
  return sentences.join('\n')
}

/** The messages that a summary stands for, by their names, without what is pinned at either end. */
export function summarisedRange(range: SummaryRange, systemCount: number): string {
  let { start, end } = range
  while (start < end && !covers(range, start)) start += 1
  while (start < end && !covers(range, end - 1)) end -= 1
  return numberRange(start, end, systemCount)
}

/**
 * A fold that was prepared, without a file in the notes of its summaries, but for those of `standing`: what they stand
 * for is in the file that they name.
 */
export function* withoutFile(
  { countSteps, structure }: Pick<History, 'countSteps' | 'structure'>,
  fold: PreparedFold,
  options: Omit<NoteOptions, 'file'> & { readonly standing: readonly StandingSummary[] },
): Pausable<PreparedFold> {
  const summaries: StandingSummary[] = []
  for (const summary of fold.summaries) {
    const note = summaryNote(summary, structure.systemCount, { ...options, file: null })
    const isStanding = options.standing.includes(summary)
    summaries.push(isStanding ? summary : yield* withNote({ countSteps }, summary, note))
  }
  return { ...fold, summaries }
}

// --- internal ---

/** The same summary with this note instead of its own, and what it weighs with it. */
function* withNote(
  { countSteps }: Pick<History, 'countSteps'>,
  summary: StandingSummary,
  note: string,
): Pausable<StandingSummary> {
  const noted = { ...summary, note: harmless(note) }
  return { ...noted, tokens: yield* countSteps(summaryText(noted)) }
}

function* quotesOf(history: History, range: SummaryRange, tokensMax: number): Pausable<string> {
  if (tokensMax === 0) return ''
  const indexes = rangeIndexes(range, [])
  const system = createWriter(history, Number.MAX_SAFE_INTEGER)
  yield* writeSystem(history, indexes, tokensMax, system)
  const users = createWriter(history, tokensMax)
  yield* writeUsers(history, indexes, tokensMax, users, false)
  return [users.written(), system.written()].filter((quotes) => quotes !== '').join('\n')
}
