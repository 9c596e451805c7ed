import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { FoldgateError } from '../../../src/errors.ts'
import { createMetrics, type MetricFacts, metricNames } from '../../../src/telemetry/metrics/metrics.ts'
import type { BegunRow } from '../../../src/telemetry/journal/rows.ts'
import type { RequestEnd, RequestReport } from '../../../src/telemetry/request-report.ts'
import { parsePrometheusText, type Sample, valueOf } from '../../support/prometheus-text.ts'
import {
  endOf,
  failedSummary,
  plainReport,
  reportOf,
  summaryCall,
  unmeasured,
  writtenSummary,
} from '../told-request.ts'

const facts: Readonly<Record<string, MetricFacts>> = metricNames

function openMetrics() {
  const metrics = createMetrics('1.2.3', ['gpt-4o*', 'gpt-5*'])
  onTestFinished(metrics.close)
  const tell = (report: RequestReport, end: Partial<RequestEnd> = {}): void => {
    metrics.begun(report, null)
    metrics.ended(report, endOf(end))
  }
  const request = (row: Partial<BegunRow> = {}, end: Partial<RequestEnd> = {}) => tell(reportOf(row), end)
  const read = async () => parsePrometheusText(await metrics.text())
  /** The value of one series; null where there is none. */
  const value = async (name: string, labels: Readonly<Record<string, string>> = {}) =>
    valueOf(await read(), name, labels)
  return { metrics, request, tell, read, value }
}

type Opened = ReturnType<typeof openMetrics>

/** One of everything that can happen. */
function everything({ metrics, request, tell }: Opened): void {
  request({ beyond_window: true }, { recalls: 2, continuations: 1 })
  request({ action: 'recovered', attempts: 2 }, { removedThoughts: { prefix: 1 } })
  tell(plainReport({ status: 400 }, { refusal: 'overflow' }))
  tell(plainReport({ action: 'restored', attempts: 2 }, { refusedThoughts: 'stale', resolved: 1 }))
  tell(plainReport({ ...unmeasured, profile: null, action: 'refused', attempts: 0, first_byte_ms: null }))
  metrics.relayed('/completions', 'relayed', null)
  metrics.relayed('other', 'relayed', null)
  metrics.turnedAway(new FoldgateError('draining', 'No.'))
  metrics.failed('store')
  metrics.summary(summaryCall(), writtenSummary())
  metrics.summary(summaryCall(), failedSummary('cancelled'))
  metrics.summary(summaryCall(), failedSummary('empty'))
}

// Clients may ask for any name: a series for each would be as many as they like.
test('figures by model go by the pattern of the operator, and there are none of other models', async () => {
  const { request, value, read } = openMetrics()
  request({ model: 'gpt-4o-2024' })
  request({ model: 'gpt-4o-mini', action: 'recovered' })
  request({ model: 'made up' })
  expect(await value('foldgate_model_requests_total', { model: 'gpt-4o*', action: 'recovered' })).toBe(1)
  const series = (await read())
    .get('foldgate_model_requests_total')
    ?.samples.map(({ labels }) => labels['model'])
  expect(new Set(series)).toEqual(new Set(['gpt-4o*']))
})

describe('the text', () => {
  test('has every metric there is a name for, with its type, help and labels, and no other', async () => {
    const opened = openMetrics()
    // It is whole before anything happened, with what is watched for at 0.
    const before = await opened.read()
    expect([...before.keys()].toSorted()).toEqual(Object.keys(facts).toSorted())
    expect(valueOf(before, 'foldgate_recoveries_total', { outcome: 'failed' })).toBe(0)
    expect(valueOf(before, 'foldgate_failures_total', { part: 'store' })).toBe(0)
    expect(valueOf(before, 'foldgate_build_info', { version: '1.2.3' })).toBe(1)
    everything(opened)
    const families = await opened.read()
    expect([...families.keys()].toSorted()).toEqual(Object.keys(facts).toSorted())
    for (const [name, { type, help, labels }] of Object.entries(facts)) {
      const family = families.get(name)
      expect(family).toMatchObject({ type, help })
      const own = new Set(family?.samples.flatMap((sample) => Object.keys(sample.labels)))
      for (const brought of ['le', 'quantile']) own.delete(brought)
      expect([name, ...own].toSorted()).toEqual([name, ...labels].toSorted())
      expect(family?.samples.length).toBeGreaterThan(0)
    }
    expect(opened.metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  })
})

// A label with the client's model string is a series for each: clients could fill the memory of Foldgate and Prometheus.
test('whatever models, labels and conversations clients name, there are not more series', async () => {
  const { request, tell, read } = openMetrics()
  const series = async () => [...(await read()).values()].flatMap(({ samples }): readonly Sample[] => samples)
  request()
  const before = (await series()).length
  for (let number = 0; number < 500; number += 1) {
    const name = `PLANTED-${number}`
    const names = { conversation: name, parent: name, label: name, model: name, upstream: name }
    tell(reportOf({ ...names, client_key: name, reason: name }, { traceparent: name }), { answeredBy: name })
  }
  const after = await series()
  expect(after).toHaveLength(before)
  expect(JSON.stringify(after)).not.toContain('PLANTED')
})

describe('a request', () => {
  test('counts once, with what was done, its tokens in the provider’s count and its pressure', async () => {
    const { request, read } = openMetrics()
    request({ beyond_window: true })
    const families = await read()
    const profile = 'default'
    for (const [name, labels, value] of [
      ['requests_total', { action: 'compacted', profile, endpoint: 'chat_completions' }, 1],
      ['compactions_total', { pass: 'fold', profile }, 1],
      ['requests_beyond_window_total', { profile }, 1],
      // 40,000 were not sent.
      ['prompt_tokens_total', { stage: 'received', profile }, 90_100],
      ['prompt_tokens_total', { stage: 'sent', profile }, 50_100],
      ['prompt_tokens_total', { stage: 'cached', profile }, 40_000],
      ['prompt_tokens_total', { stage: 'cache_written', profile }, 9_000],
      ['pressure_sum', { profile }, 0.9],
      ['added_seconds_sum', {}, 0.02],
      ['upstream_first_byte_seconds_sum', {}, 0.3],
    ] as const)
      expect([name, labels, valueOf(families, `foldgate_${name}`, labels)]).toEqual([name, labels, value])
  })

  test('that was tightened or waited, and was answered or not, is a recovery of its kind', async () => {
    const { request, tell, value } = openMetrics()
    request({ action: 'recovered' })
    tell(reportOf({ status: 400 }, { refusal: 'overflow' }))
    tell(reportOf({ status: 429 }, { refusal: 'rate' }))
    tell(reportOf({ attempts: 2 }, { hasWaited: true }))
    tell(reportOf({ attempts: 3, status: 500 }, { hasWaited: true, refusal: 'crowded' }))
    for (const outcome of ['recovered', 'failed', 'waited', 'crowded'])
      expect([outcome, await value('foldgate_recoveries_total', { outcome })]).toEqual([outcome, 1])
  })

  test('that an upstream refused has no code of ours, whatever else was done with it', async () => {
    const { tell, read } = openMetrics()
    tell(plainReport({ status: 400, action: 'compacted', reason: 'operator' }))
    tell(plainReport({ status: 429, action: 'refused', reason: 'busy' }))
    const samples = (await read()).get('foldgate_error_answers_total')?.samples
    expect(samples?.map(({ labels }) => [labels['status'], labels['code']])).toEqual([
      ['400', ''],
      ['429', 'busy'],
    ])
  })

  test('that was not counted adds nothing to tokens; one that never was sent nothing to times', async () => {
    const { request, read } = openMetrics()
    request({ ...unmeasured, attempts: 0, first_byte_ms: null, profile: null }, { usage: null })
    const families = await read()
    expect(families.get('foldgate_prompt_tokens_total')?.samples).toEqual([])
    expect(valueOf(families, 'foldgate_added_seconds_count')).toBe(0)
    expect(valueOf(families, 'foldgate_upstream_first_byte_seconds_count')).toBe(0)
  })

  // Little was received, more was sent (the recap of a tiny window), and the provider counted far fewer tokens than we
  // did. A counter cannot fall: the library threw, and the books that are told next did not hear of the request's end.
  test('of which more was sent than came never makes a counter fall', async () => {
    const { request, value } = openMetrics()
    const usage = { promptTokens: 10, cachedTokens: null, cacheWrittenTokens: null, completionTokens: null }
    request({ tokens_received: 100, tokens_sent: 400 }, { usage })
    expect(await value('foldgate_prompt_tokens_total', { stage: 'received', profile: 'default' })).toBe(0)
    expect(await value('foldgate_prompt_tokens_total', { stage: 'sent', profile: 'default' })).toBe(10)
  })
})

test('another path is named by it, and summaries count by how they ended, with all that they took', async () => {
  const opened = openMetrics()
  everything(opened)
  const families = await opened.read()
  const requestsOf = (action: string, endpoint: string) =>
    valueOf(families, 'foldgate_requests_total', { action, profile: '', endpoint })
  const counted = [
    requestsOf('relayed', 'completions'),
    requestsOf('relayed', 'other'),
    requestsOf('refused', 'other'),
  ]
  expect(counted).toEqual([1, 1, 1])
  for (const outcome of ['written', 'cancelled', 'failed'])
    expect(valueOf(families, 'foldgate_summary_calls_total', { outcome })).toBe(2)
  const spent = { prompt: 2_700, cached: 300, cache_written: 600, completion: 240 }
  for (const [kind, tokens] of Object.entries(spent))
    expect(valueOf(families, 'foldgate_summary_tokens_total', { kind })).toBe(tokens)
})

test('a loop that was blocked shows, by its highest percentile and the sum', async () => {
  const { value } = openMetrics()
  const name = 'foldgate_event_loop_lag_seconds'
  expect(await value(name, { quantile: '0.99' })).toBe(0)
  await expect.poll(() => value(`${name}_count`)).toBeGreaterThan(2)
  const sum = (await value(`${name}_sum`)) ?? expect.fail()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  await expect.poll(() => value(name, { quantile: '0.99' })).toBeGreaterThan(0.25)
  await expect.poll(async () => ((await value(`${name}_sum`)) ?? 0) - sum).toBeGreaterThan(0.25)
})

// The time between two turns is a little below what was asked for now and then: the sum fell with it, Prometheus takes a
// sum that falls for a restart, and rates showed the whole sum once more.
test('by what an idle loop was asked for it does not wait, and the sum of the waiting never falls', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => clock.mockRestore())
  const { value } = openMetrics()
  const name = 'foldgate_event_loop_lag_seconds'
  const sums: number[] = []
  // Of these turns two come early, and the fourth is held up for 300 ms.
  for (const turnMs of [20, 39, 60, 380, 399.5, 420, 440, 460, 480, 500]) {
    clock.mockReturnValue(turnMs)
    vi.advanceTimersByTime(20)
    sums.push((await value(`${name}_sum`)) ?? expect.fail())
  }
  expect(sums).toEqual(sums.toSorted((a, b) => a - b))
  expect(sums.at(-1)).toBeCloseTo(0.3, 2)
  expect(await value(`${name}_count`)).toBe(sums.length)
  expect(await value(name, { quantile: '0.5' })).toBeLessThan(0.001)
})
