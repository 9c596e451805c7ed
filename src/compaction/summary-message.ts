import { rangeIndexes } from './layout.ts'
import { harmless } from './recap/harmless.ts'
import { writeSystem } from './recap/said.ts'
import { createWriter } from './recap/writer.ts'
import type { StandingSummary, SummaryRange } from './stride.ts'
import type { Subject } from './subject.ts'

/** The tags around a summary, by which a model and a later pass can tell it from the user's words. */
export const SUMMARY_OPEN = '<conversation-summary>'
const SUMMARY_CLOSE = '</conversation-summary>'

const INTRODUCTION = 'Earlier messages were left out here to fit the context window. This stands for them:'

export type StandingOptions = {
  /** What the model wrote. */
  readonly written: string
  /** How much the distinct system messages among what it stands for may take, in tokens. */
  readonly systemTokensMax: number
  /** Where what it stands for can be read back (`summary-note.ts`); '' where nowhere. */
  readonly note: string
}

/**
 * What a model wrote of a range of messages, as it stands in views from now on: with the distinct system messages
 * among them, newest first, as far as `systemTokensMax` allows, and its weight.
 */
export function standingSummary(
  subject: Subject,
  range: SummaryRange,
  { written, systemTokensMax, note }: StandingOptions,
): StandingSummary {
  const { start, end, except } = range
  const quoted = systemQuotes(subject, range, systemTokensMax)
  const writer = createWriter(subject.count, Number.MAX_SAFE_INTEGER)
  writer.line(written)
  return withNote(subject, { start, end, except, quoted, text: writer.written(), tokens: 0, note: '' }, note)
}

/** The same summary with this note instead of its own, and what it weighs with it. */
export function withNote(
  { count }: Pick<Subject, 'count'>,
  summary: StandingSummary,
  note: string,
): StandingSummary {
  const noted = { ...summary, note: harmless(note) }
  return { ...noted, tokens: count(summaryText(noted)) }
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

function systemQuotes(subject: Subject, range: SummaryRange, systemTokensMax: number): string {
  const writer = createWriter(subject.count, Number.MAX_SAFE_INTEGER)
  writeSystem(subject, rangeIndexes(range, []), { systemTokensMax }, writer)
  return writer.written()
}
