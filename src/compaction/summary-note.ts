import type { Steps } from '../conversation/source.ts'
import { numberRange } from './message-numbers.ts'
import type { PreparedFold } from './plan/options.ts'
import type { StandingSummary, SummaryRange } from './compaction.ts'
import type { Subject } from './subject.ts'
import { withNote } from './summary-message.ts'

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
export function summarisedRange({ start, end, except }: SummaryRange, systemCount: number): string {
  const pinned = new Set(except)
  let [first, last] = [start, end]
  while (pinned.has(first)) first += 1
  while (pinned.has(last - 1)) last -= 1
  return numberRange(first, last, systemCount)
}

/**
 * A fold that was prepared, without a file in the notes of its summaries, but for those of `standing`: what they stand
 * for is in the file that they name.
 */
export function* withoutFile(
  { countSteps, structure }: Pick<Subject, 'countSteps' | 'structure'>,
  fold: PreparedFold,
  options: Omit<NoteOptions, 'file'> & { readonly standing: readonly StandingSummary[] },
): Steps<PreparedFold> {
  const summaries: StandingSummary[] = []
  for (const summary of fold.summaries) {
    const note = summaryNote(summary, structure.systemCount, { ...options, file: null })
    const isStanding = options.standing.includes(summary)
    summaries.push(isStanding ? summary : yield* withNote({ countSteps }, summary, note))
  }
  return { ...fold, summaries }
}
