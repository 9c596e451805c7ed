import type { Steps } from '../conversation/source.ts'
import { rangeIndexes } from './layout.ts'
import type { MadeCache } from './made-cache.ts'
import { harmless } from './recap/harmless.ts'
import { writeSystem, writeUsers } from './recap/user/said.ts'
import { createWriter } from './recap/writer.ts'
import type { StandingSummary, SummaryRange } from './compaction.ts'
import type { Subject } from './subject.ts'

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
  /** Where what it stands for can be read back (`summary-note.ts`); '' where nowhere. */
  readonly note: string
}

/**
 * What a model wrote of a range of messages, as it stands in views from now on: behind what the user said among them and
 * the distinct system messages, newest first, word for word as far as `systemTokensMax` allows, and with its weight.
 */
export function* standingSummary(
  subject: Subject,
  range: SummaryRange,
  { written, systemTokensMax, note }: StandingOptions,
): Steps<StandingSummary> {
  const { start, end, except } = range
  const quoted = yield* quotesOf(subject, range, systemTokensMax)
  const writer = createWriter(subject, Number.MAX_SAFE_INTEGER)
  yield* writer.line(written)
  return yield* withNote(
    subject,
    { start, end, except, quoted, text: writer.written(), tokens: 0, note: '' },
    note,
  )
}

/** The same summary with this note instead of its own, and what it weighs with it. */
export function* withNote(
  { countSteps }: Pick<Subject, 'countSteps'>,
  summary: StandingSummary,
  note: string,
): Steps<StandingSummary> {
  const noted = { ...summary, note: harmless(note) }
  return { ...noted, tokens: yield* countSteps(summaryText(noted)) }
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

// --- internal ---

function* quotesOf(subject: Subject, range: SummaryRange, tokensMax: number): Steps<string> {
  if (tokensMax === 0) return ''
  const indexes = rangeIndexes(range, [])
  const system = createWriter(subject, Number.MAX_SAFE_INTEGER)
  yield* writeSystem(subject, indexes, { systemTokensMax: tokensMax }, system)
  const users = createWriter(subject, tokensMax)
  yield* writeUsers(subject, indexes, { tokensMax }, nothingKept, users, false)
  return [users.written(), system.written()].filter((quotes) => quotes !== '').join('\n')
}

/** A summary is made once: nothing of it is looked up again. */
const nothingKept: MadeCache = { get: () => undefined, set: () => {} }
