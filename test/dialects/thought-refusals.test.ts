import { expect, test } from 'vitest'
import { thoughtRefusalIn, thoughtWordings } from '../../src/dialects/thought-refusals.ts'

test.each(thoughtWordings.map(({ refusal, sample }) => [refusal, sample] as const))(
  'what is refused of thoughts is told: %s, %s',
  (refusal, sample) => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: sample } }
    const gateway = { error: { message: `AnthropicException - ${JSON.stringify(error)}`, code: '400' } }
    for (const body of [error, gateway, [gateway]])
      expect(thoughtRefusalIn(JSON.stringify(body))).toBe(refusal)
  },
)

test.each([
  'messages.1.content.0: Invalid `signature` in `thinking` block',
  'messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.',
  'thinking.block_binding: Extra inputs are not permitted',
  'prompt is too long: 219898 tokens > 200000 maximum',
])('another refusal is none: %s', (message) => {
  expect(thoughtRefusalIn(message)).toBeNull()
})
