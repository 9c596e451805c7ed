import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../support/chat-completions.ts'
import { expectedOfRecorded, wrongIn } from '../runs/refusals/expected.ts'
import { answerOfRecorded, readRecordedAnswers } from '../runs/refusals/recorded.ts'

/** The collection is read where somebody has it: FOLDGATE_OVERFLOW_ANSWERS names the file. */
const path = process.env['FOLDGATE_OVERFLOW_ANSWERS'] ?? ''

describe('recorded answers are classified as their collection says', () => {
  const recorded = path === '' ? [] : readRecordedAnswers(path)

  test.skipIf(path !== '')('skipped, because FOLDGATE_OVERFLOW_ANSWERS names no file', ({ skip }) => {
    expect(recorded).toEqual([])
    skip()
  })

  test.each(recorded)('$name', (entry) => {
    const knownWindowTokens = entry.status === 200 ? (entry.window ?? null) : null
    const read = classifyAnswer(answerOfRecorded(entry), { knownWindowTokens })
    expect(wrongIn(read, expectedOfRecorded(entry))).toBe('')
  })
})
