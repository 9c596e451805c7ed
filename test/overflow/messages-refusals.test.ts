import { expect, test } from 'vitest'
import { classifyError } from '../../src/overflow/classify-error.ts'
import { collectErrorFacts } from '../../src/overflow/error-text.ts'
import { refusals } from './messages-refusals.ts'

test.each(refusals)('$name: $class', ({ status, type, message, beside, sizes, ...meant }) => {
  const body = {
    type: 'error',
    error: { type, message, ...beside },
    request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
  }
  const read = classifyError(collectErrorFacts(JSON.stringify(body)), status)
  expect(read.class).toBe(meant.class)
  if (meant.remedy !== undefined) expect(read.remedy).toBe(meant.remedy)
  if (sizes === undefined) return
  expect([read.window?.tokens, read.promptTokens?.tokens]).toEqual(sizes)
})
