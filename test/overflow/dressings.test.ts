import { describe, expect, test } from 'vitest'
import { classifyError } from '../../src/overflow/classify-error.ts'
import { collectErrorFacts } from '../../src/overflow/error-text.ts'
import { unknownWording } from '../../src/overflow/classify-error.ts'

const SENTENCES =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."
const saying = (message: string) => ({ error: { message } })
const refused = saying(SENTENCES)

function read(body: unknown) {
  const facts = collectErrorFacts(typeof body === 'string' ? body : JSON.stringify(body))
  const { class: kind, window, promptTokens } = classifyError(facts, 400, { expectedPromptTokens: 9001 })
  return [kind, window?.tokens, promptTokens?.tokens]
}

// The story: who asks for another cause found one in every aside of a gateway, and lost the refusal.
test.each([
  ' Max output tokens: 4096.',
  ' Output limit: 4096 tokens.',
  ' (x-ratelimit-remaining: 59)',
  ' Your balance was not charged.',
  ' Rate limit remaining: 59.',
  ' Queue: default',
  ' batch size 512',
])('what is only mentioned behind it is not the cause:%s', (tail) => {
  expect(read(saying(SENTENCES + tail))).toEqual(['overflow', 8192, 9001])
})

test.each([
  ' You have exceeded your quota.',
  ' Your credits are used up.',
  ' The rate limit of your organisation was reached.',
])('what is named as the cause is:%s', (tail) => {
  expect(read(saying(SENTENCES + tail))[0]).not.toBe('overflow')
})

// The story: `<` began a bracket that any other closed, and took both sizes along.
test.each([
  'Your request has (9001 tokens, must be <= 8192).',
  'Prompt too long (need <= 8192 tokens, got 9001)',
])('a comparison is no bracket: %s', (message) => {
  expect(read(saying(message))).toEqual(['overflow', 8192, 9001])
})

describe('an error is followed wherever it stands', () => {
  const status = `status code: 400 ${JSON.stringify(refused)}`
  const bodies: Readonly<Record<string, unknown>> = {
    'in a list': { results: [refused] },
    'in a list of attempts': { error: { message: 'All providers failed', attempts: [refused] } },
    'behind a status under any key': { error: { message: 'Provider failed', upstream: status } },
    'under the name of an error': { error: { message: 'Provider failed', upstream_error: refused.error } },
    'behind a provider’s name in quotation marks': `Upstream 'acme' failed with ${status}`,
  }
  test.each(Object.entries(bodies))('%s', (_, body) => {
    expect(read(body)).toEqual(['overflow', 8192, 9001])
  })

  test('but not where the client has sent it', () => {
    expect(read({ error: { message: 'Bad', input: [refused], ctx: { error: refused.error } } })[0]).toBe(
      'other',
    )
  })
})

// The story: half of the prompt was sent after refusals that had nothing to do with it; after a rate limit that works.
test.each([
  'Your credit balance is too low to access the Anthropic API.',
  'API key not valid. Please pass a valid API key.',
  'You are sending requests too quickly.',
  'You have run out of credits.',
  'Your account is not active',
  'You do not have access to model foo',
  'The model foo has been deprecated',
  'Token expired',
  'weekly token limit reached for this conversation',
  'Your request was rejected as a result of our safety system.',
])('is not tried with less, since it is about who asks: %s', (message) => {
  expect(unknownWording(JSON.stringify(saying(message)), 400)).toBeNull()
})

test.each([
  'The conversation could not be handled',
  'Request rejected by the engine. Consider upgrading your plan, or choose a model with more room.',
])('is tried with less: %s', (message) => {
  expect(unknownWording(JSON.stringify(saying(message)), 400)).not.toBeNull()
})
