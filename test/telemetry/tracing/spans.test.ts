import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  modelServer,
  type ModelServer,
  providers,
  requestSpan,
  summarySpan,
} from '../../../src/telemetry/tracing/spans.ts'
import type { RequestEnd, RequestReport } from '../../../src/telemetry/request-report.ts'
import { root } from '../../docs/pages.ts'
import {
  beganMs,
  endOf,
  failedSummary,
  plainReport,
  reportOf,
  unmeasured,
  summaryCall,
  writtenSummary,
} from '../told-request.ts'

const server = modelServer('https://api.openai.com/v1')

/** The span of a request that has ended. */
const spanOf = (report: RequestReport, end: RequestEnd, at: ModelServer | null = server) =>
  requestSpan(report, end, at)

describe('the span of a request', () => {
  test('says by the conventions what was asked, answered and counted, and what Foldgate did', () => {
    const span = spanOf(reportOf(), endOf())
    const { name, startedAtMs, endedAtMs, errorType } = span
    expect([name, startedAtMs, endedAtMs, errorType]).toEqual(['chat gpt-5', beganMs, beganMs + 2_500, null])
    expect(span.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'openai.api.type': 'chat_completions',
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'gpt-5-2026-08-07',
      'gen_ai.usage.input_tokens': 50_100,
      'gen_ai.usage.output_tokens': 700,
      'gen_ai.usage.cache_read.input_tokens': 40_000,
      'gen_ai.usage.cache_creation.input_tokens': 9_000,
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
      'foldgate.compaction.reason': 'trigger',
      'foldgate.added_ms': 20,
      'foldgate.outcome': 'finished',
    })
  })

  test('has a compaction as an event, within the span', () => {
    const compaction = {
      name: 'foldgate.compaction',
      atMs: beganMs + 20,
      attributes: {
        'foldgate.compaction.reason': 'trigger',
        'foldgate.compaction.point': 80,
        'foldgate.compaction.passes': ['fold'],
        'foldgate.compaction.tokens_before': 90_000,
        'foldgate.compaction.tokens_after': 50_000,
        'foldgate.compaction.summaries': 0,
        'foldgate.compaction.ms': 12,
      },
    }
    expect(spanOf(reportOf(), endOf()).events).toEqual([compaction])
    expect(spanOf(reportOf(), endOf({ totalMs: 5 })).events[0]?.atMs).toBe(beganMs + 5)
    expect(spanOf(plainReport(), endOf()).events).toEqual([])
  })

  test('names the API that it came by, and reasoning that was lost on account of Foldgate alone', () => {
    const lost = endOf({ removedThoughts: { prefix: 2, model: 3 } })
    const response = plainReport({ dialect: 'responses' })
    expect(spanOf(response, lost).attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'openai.api.type': 'responses',
      'foldgate.reasoning.removed': 2,
    })
    const ofClient = spanOf({ ...response, prefixCause: 'client' }, lost)
    expect(ofClient.attributes).not.toHaveProperty('foldgate.reasoning.removed')
    const message = spanOf(plainReport({ dialect: 'messages' }), endOf())
    expect(message.attributes).toMatchObject({ 'gen_ai.provider.name': 'anthropic' })
    expect(message.attributes).not.toHaveProperty('openai.api.type')
    const elsewhere = spanOf(response, lost, modelServer('https://api.groq.com/openai/v1'))
    expect(elsewhere.attributes).not.toHaveProperty('openai.api.type')
  })

  test('leaves out what is not known, and what is not so', () => {
    const nobody = { conversation: null, profile: null, model: '', status: null }
    const bare = plainReport({ ...unmeasured, ...nobody, action: 'relayed', streamed: false, passes: [] })
    const span = spanOf(bare, endOf({ usage: null, answeredBy: null }), null)
    expect(span.name).toBe('chat')
    // And cuts a name that no model has.
    expect(spanOf(reportOf({ model: 'x'.repeat(10_000) }), endOf()).name).toHaveLength(205)
    const own = ['action', 'added_ms', 'attempts', 'outcome', 'passes', 'summary', 'upstream']
    const conventions = ['gen_ai.operation.name', 'gen_ai.provider.name', 'openai.api.type']
    const names = [...own.map((name) => `foldgate.${name}`), ...conventions]
    expect(Object.keys(span.attributes).toSorted()).toEqual(names)
  })

  test('is a failure with the status as its type, the code of a refusal of ours, or that the answer broke off', () => {
    const refused = spanOf(reportOf({ status: 429 }), endOf())
    expect([refused.errorType, refused.attributes['error.type']]).toEqual(['429', '429'])
    const own = reportOf({ action: 'refused', reason: 'body_too_large', status: 413 })
    expect(spanOf(own, endOf()).errorType).toBe('body_too_large')
    expect(spanOf(reportOf(), endOf({ outcome: 'broken-off' })).errorType).toBe('broken-off')
    expect(spanOf(reportOf(), endOf({ outcome: 'client-gone' })).errorType).toBeNull()
  })
})

const call = summaryCall({ upstream: 'cheap', milliseconds: 900 })

const groq = modelServer('https://api.groq.com/openai/v1')

describe('the span of a summary', () => {
  test('says what it cost, and not a word of it', () => {
    const span = summarySpan(call, writtenSummary(), groq)
    const { name, startedAtMs, endedAtMs, errorType } = span
    expect([name, startedAtMs, endedAtMs, errorType]).toEqual(['chat small', beganMs, beganMs + 900, null])
    expect(span.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'groq',
      'gen_ai.request.model': 'small',
      'gen_ai.usage.input_tokens': 900,
      'gen_ai.usage.output_tokens': 80,
      'gen_ai.usage.cache_read.input_tokens': 100,
      'gen_ai.usage.cache_creation.input_tokens': 200,
      'gen_ai.conversation.id': 'c0ffee',
      'server.address': 'api.groq.com',
      'server.port': 443,
      'foldgate.purpose': 'summary',
      'foldgate.upstream': 'cheap',
      'foldgate.attempts': 2,
      'foldgate.outcome': 'written',
      'foldgate.tokens.written': 70,
    })
    expect(JSON.stringify(span)).not.toContain('PLANTED')
  })

  test('is a failure with its reason, unless it was broken off', () => {
    const failed = summarySpan(call, failedSummary('rate-limited'), groq)
    expect(failed).toMatchObject({ errorType: 'rate-limited', attributes: { 'error.type': 'rate-limited' } })
    const left = summarySpan(call, failedSummary('cancelled'), groq)
    expect(left).toMatchObject({ errorType: null, attributes: { 'foldgate.outcome': 'cancelled' } })
  })
})

test('docs/observability.md names every attribute and event', async () => {
  const page = await readFile(join(root, 'docs/observability.md'), 'utf8')
  const report = reportOf({ status: 500, reason: 'original', tokens_are_bounds: true }, { isSentBound: true })
  const request = spanOf(report, endOf())
  const summary = summarySpan(call, writtenSummary(), server)
  const names = [...Object.keys(request.attributes), ...Object.keys(summary.attributes)]
  expect(names.length).toBeGreaterThan(40)
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  expect(request.events.filter(({ name }) => !page.includes(`\`${name}\``))).toEqual([])
})

describe('the server of a model', () => {
  test.each(providers)('the provider %s has hosts like %s: %s', (provider, _, sample) => {
    const names = providers.filter(([, pattern]) => pattern.test(sample)).map(([name]) => name)
    expect(names).toEqual([provider])
    expect(modelServer(`https://${sample}/v1`)).toEqual({ provider, address: sample, port: 443 })
  })

  test('every other speaks the format of OpenAI, whatever it is', () => {
    for (const host of ['api.openai.com', 'openrouter.ai', 'notgroq.com', 'box.ai', 'groq.com.example']) {
      expect(modelServer(`https://${host}/v1`).provider).toBe('openai')
    }
  })

  test('has the port of its scheme where the address names none, and no brackets', () => {
    expect(modelServer('http://vllm.internal/v1').port).toBe(80)
    expect(modelServer('http://[::1]:8080/v1')).toMatchObject({ address: '::1', port: 8080 })
  })
})
