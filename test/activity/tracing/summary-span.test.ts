import { describe, expect, test } from 'vitest'
import { modelServer } from '../../../src/activity/tracing/model-server.ts'
import { summarySpan, type SummaryCall } from '../../../src/activity/tracing/summary-span.ts'
import { beganMs } from './told-request.ts'

const call: SummaryCall = {
  conversation: 'c0ffee',
  model: 'small',
  upstream: 'cheap',
  startedAtMs: beganMs,
  endedAtMs: beganMs + 900,
}

const spent = {
  calls: 2,
  promptTokens: 3_000,
  completionTokens: 400,
  cachedTokens: 100,
  sentTokens: 2_900,
  learntWindowTokens: null,
}

const server = modelServer('https://api.groq.com/openai/v1')

describe('the span of a summary', () => {
  test('says what it cost, and not a word of it', () => {
    const span = summarySpan(call, { kind: 'written', text: 'PLANTED', tokens: 350, ...spent }, server)
    expect(span).toMatchObject({ name: 'chat small', endedAtMs: beganMs + 900, errorType: null })
    expect(span.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'groq',
      'gen_ai.request.model': 'small',
      'gen_ai.usage.input_tokens': 3_000,
      'gen_ai.usage.output_tokens': 400,
      'gen_ai.usage.cache_read.input_tokens': 100,
      'gen_ai.conversation.id': 'c0ffee',
      'server.address': 'api.groq.com',
      'server.port': 443,
      'foldgate.purpose': 'summary',
      'foldgate.upstream': 'cheap',
      'foldgate.attempts': 2,
      'foldgate.outcome': 'written',
      'foldgate.tokens.written': 350,
    })
    expect(JSON.stringify(span)).not.toContain('PLANTED')
  })

  test('is a failure with its reason, unless it was broken off', () => {
    const failed = summarySpan(call, { kind: 'failed', reason: 'rate-limited', ...spent }, server)
    expect(failed).toMatchObject({ errorType: 'rate-limited', attributes: { 'error.type': 'rate-limited' } })
    const left = summarySpan(call, { kind: 'failed', reason: 'cancelled', ...spent }, server)
    expect(left).toMatchObject({ errorType: null, attributes: { 'foldgate.outcome': 'cancelled' } })
  })
})
