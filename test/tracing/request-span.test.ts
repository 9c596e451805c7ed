import { describe, expect, test } from 'vitest'
import { modelServer } from '../../src/tracing/model-server.ts'
import { requestSpan } from '../../src/tracing/request-span.ts'
import { beganMs, endOf, reportOf } from './told-request.ts'

const server = modelServer('https://api.openai.com/v1')

describe('the span of a request', () => {
  test('says by the conventions what was asked, answered and counted, and what Foldgate did', () => {
    const span = requestSpan(reportOf(), endOf(), server)
    expect(span).toMatchObject({
      name: 'chat gpt-5',
      startedAtMs: beganMs,
      endedAtMs: beganMs + 2_500,
      errorType: null,
    })
    expect(span.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'gpt-5-2026-08-07',
      'gen_ai.usage.input_tokens': 50_100,
      'gen_ai.usage.output_tokens': 700,
      'gen_ai.usage.cache_read.input_tokens': 40_000,
      'gen_ai.conversation.id': 'c0ffee',
      'gen_ai.conversation.compacted': true,
      'server.address': 'api.openai.com',
      'server.port': 443,
      'http.response.status_code': 200,
      'foldgate.action': 'compacted',
      'foldgate.profile': 'default',
      'foldgate.upstream': 'default',
      'foldgate.attempts': 1,
      'foldgate.passes': ['render', 'fold'],
      'foldgate.summary': 'recap',
      'foldgate.pressure': 0.9,
      'foldgate.tokens.received': 90_000,
      'foldgate.tokens.sent': 50_000,
      'foldgate.window.tokens': 128_000,
      'foldgate.window.source': 'table',
      'foldgate.stride.reason': 'trigger',
      'foldgate.added_ms': 20,
      'foldgate.outcome': 'finished',
    })
  })

  test('has a stride as an event, within the span', () => {
    const stride = {
      name: 'foldgate.stride',
      atMs: beganMs + 20,
      attributes: {
        'foldgate.stride.reason': 'trigger',
        'foldgate.stride.point': 80,
        'foldgate.stride.passes': ['fold'],
        'foldgate.stride.tokens_before': 90_000,
        'foldgate.stride.tokens_after': 50_000,
        'foldgate.stride.summaries': 0,
        'foldgate.stride.ms': 12,
      },
    }
    expect(requestSpan(reportOf(), endOf(), server).events).toEqual([stride])
    expect(requestSpan(reportOf(), endOf({ totalMs: 5 }), server).events[0]?.atMs).toBe(beganMs + 5)
    expect(requestSpan(reportOf({ stride: null }), endOf(), server).events).toEqual([])
  })

  test('leaves out what is not known, and what is not so', () => {
    const bare = reportOf({
      conversation: null,
      profile: null,
      model: '',
      action: 'relayed',
      isStreamed: false,
      status: null,
      size: null,
      passes: [],
      stride: null,
    })
    const span = requestSpan(bare, endOf({ usage: null, answeredBy: null }), null)
    expect(span.name).toBe('chat')
    expect(Object.keys(span.attributes)).toEqual([
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'foldgate.action',
      'foldgate.upstream',
      'foldgate.attempts',
      'foldgate.passes',
      'foldgate.summary',
      'foldgate.added_ms',
      'foldgate.outcome',
    ])
  })

  test('is a failure with the status as its type, or when the answer broke off', () => {
    const refused = requestSpan(reportOf({ status: 429 }), endOf(), server)
    expect([refused.errorType, refused.attributes['error.type']]).toEqual(['429', '429'])
    expect(requestSpan(reportOf(), endOf({ outcome: 'broken-off' }), server).errorType).toBe('broken-off')
    expect(requestSpan(reportOf(), endOf({ outcome: 'client-gone' }), server).errorType).toBeNull()
  })

  test('says neither what the client calls the conversation nor whose key it was', () => {
    expect(JSON.stringify(requestSpan(reportOf(), endOf(), server))).not.toContain('PLANTED')
  })

  test('cuts a name that no model has', () => {
    expect(requestSpan(reportOf({ model: 'x'.repeat(10_000) }), endOf(), server).name).toHaveLength(205)
  })
})
