import { openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { readRecordings } from '../replay/recordings.ts'
import { createSubject, type Subject } from '../replay/subject.ts'

/** The conversation whose last request has the most tokens; null where there is no request at all. */
export function longestOf(
  folder: string,
  file: string | null,
  count: (text: string) => number,
): Subject | null {
  const counter = openPromptCounter(count)
  const subjects = readRecordings(folder, file)
    .filter(({ points }) => points.length > 0)
    .map((recording) => {
      const { messages, points } = recording
      return createSubject({ recording, variant: 'recorded', messages, points, counter })
    })
  return subjects.toSorted((one, other) => lastTokens(other) - lastTokens(one))[0] ?? null
}

/** Tokens of the last request. */
export function lastTokens(subject: Subject): number {
  return subject.promptTokens(subject.points.at(-1) ?? 0)
}
