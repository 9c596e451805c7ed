import { describe, expect, test } from 'vitest'
import { classifyAnswer } from '../../support/chat-completions.ts'
import { judgeMadeUp, madeUpHalves } from './made-up.ts'

const answer = (message: string) => ({
  status: 400,
  contentType: 'application/json',
  body: JSON.stringify({ error: { message, type: 'invalid_request_error', code: null } }),
})

describe.each(madeUpHalves)('wordings that nobody has listed, $name', (half) => {
  test.each(half.lookAlikes)('%s: is no overflow', (text) => {
    const read = classifyAnswer(answer(text))
    expect(read.class).not.toBe('overflow')
    expect(read.window).toBeNull()
  })

  test('nearly all overflows are recognised, and no number is read wrong', () => {
    const { missed, misread } = judgeMadeUp(half)
    expect(misread).toEqual([])
    expect(missed.length / half.overflows.length).toBeLessThanOrEqual(0.05)
  })
})
