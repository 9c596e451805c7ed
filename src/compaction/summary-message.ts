import { rangeIndexes } from './layout.ts'
import { writeSystem } from './recap/said.ts'
import { createWriter } from './recap/writer.ts'
import type { StandingSummary, SummaryRange } from './stride.ts'
import type { Subject } from './subject.ts'

/** The tags around a summary, by which a model and a later pass can tell it from the user's words. */
export const SUMMARY_OPEN = '<conversation-summary>'
const SUMMARY_CLOSE = '</conversation-summary>'

const INTRODUCTION = 'Earlier messages were left out here to fit the context window. This stands for them:'

/**
 * What a model wrote of a range of messages, as it stands in views from now on: with the distinct system messages
 * among them, newest first, as far as `systemTokensMax` allows, and its weight.
 */
export function standingSummary(
  subject: Subject,
  range: SummaryRange,
  written: string,
  systemTokensMax: number,
): StandingSummary {
  const { start, end, except } = range
  const quoted = systemQuotes(subject, range, systemTokensMax)
  const writer = createWriter(subject.count, Number.MAX_SAFE_INTEGER)
  writer.line(written)
  const text = writer.written()
  return { start, end, except, quoted, text, tokens: subject.count(summaryText({ quoted, text })) }
}

/** The text of the message in which a summary stands. */
export function summaryText({ quoted, text }: Pick<StandingSummary, 'quoted' | 'text'>): string {
  const parts = [SUMMARY_OPEN, INTRODUCTION, ...(quoted === '' ? [] : [quoted]), text, SUMMARY_CLOSE]
  return parts.join('\n')
}

// --- internal ---

function systemQuotes(subject: Subject, range: SummaryRange, systemTokensMax: number): string {
  const writer = createWriter(subject.count, Number.MAX_SAFE_INTEGER)
  writeSystem(subject, rangeIndexes(range, []), { systemTokensMax }, writer)
  return writer.written()
}
