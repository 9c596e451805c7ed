import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../../src/overflow/classify.ts'

type Recorded = {
  readonly name: string
  readonly status: number
  readonly content_type: string
  readonly body: unknown
  readonly is_overflow: boolean
  readonly window?: number
  readonly prompt_tokens?: number
  readonly prompt_tokens_is_lower_bound?: boolean
  readonly completion_tokens?: number
  readonly total_tokens?: number
  readonly remedy: string
}

const remedyOf: Readonly<Record<string, string>> = {
  clamp_max_tokens: 'clamp',
  clamp_max_tokens_or_compact: 'clamp-or-compact',
  compact_count: 'compact-count',
  compact_bytes: 'compact-bytes',
}

const path = process.env['FOLDGATE_OVERFLOW_ANSWERS'] ?? ''

/** The collection is read where somebody has it: FOLDGATE_OVERFLOW_ANSWERS names the file. */
function readRecorded(): readonly Recorded[] {
  const parsed: Recorded[] = path === '' ? [] : JSON.parse(readFileSync(path, 'utf8'))
  return parsed
}

describe('recorded answers are classified as their collection says', () => {
  test.skipIf(path !== '')('skipped, because FOLDGATE_OVERFLOW_ANSWERS names no file', ({ skip }) => {
    expect(readRecorded()).toEqual([])
    skip()
  })

  test.each(readRecorded())('$name', (answer) => {
    const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
    const { status, content_type: contentType } = answer
    const knownWindowTokens = status === 200 ? (answer.window ?? null) : null
    const read = classifyAnswer({ status, contentType, body }, { knownWindowTokens })

    expect(read).toMatchObject({
      ...expectedOf(answer),
      ...(read.class === 'other' ? {} : numbersOf(answer)),
    })
    expect(read.class === 'overflow').toBe(answer.is_overflow)
  })
})

function expectedOf({ remedy }: Recorded) {
  return { remedy: remedyOf[remedy] ?? remedy }
}

function numbersOf(answer: Recorded) {
  const { window, prompt_tokens: prompt, completion_tokens: output, total_tokens: total } = answer
  const exact = answer.prompt_tokens_is_lower_bound !== true
  return {
    promptTokens: prompt === undefined ? null : { tokens: prompt, exact },
    ...(window === undefined ? {} : { window: { tokens: window } }),
    ...(output === undefined ? {} : { completionTokens: output }),
    ...(total === undefined ? {} : { totalTokens: total }),
  }
}
