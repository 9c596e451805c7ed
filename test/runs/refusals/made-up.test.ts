import { expect, test } from 'vitest'
import { classifyAnswer } from '../../support/chat-completions.ts'
import { judgeMadeUp, madeUpHalves } from './made-up.ts'

test.each(madeUpHalves)(
  'wordings that nobody has listed, $name: nearly all overflows, and nothing else',
  (half) => {
    const { overflows, missed, misread } = judgeMadeUp(half)
    expect(misread).toEqual([])
    expect(missed.length / overflows).toBeLessThanOrEqual(0.05)
    // With all signatures, as well.
    const mistaken = half.all.filter(({ isOverflow, text: message }) => {
      const body = JSON.stringify({ error: { message, type: 'invalid_request_error', code: null } })
      const read = classifyAnswer({ status: 400, contentType: 'application/json', body })
      return !isOverflow && (read.class === 'overflow' || read.window !== null)
    })
    expect(mistaken).toEqual([])
  },
)
