import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client'
import { failingParts, type FailingPart } from '../failures.ts'
import type { Endpoint, Reports, RequestEnd, RequestReport } from '../request-report.ts'
import type { Written } from '../../summaries/write-summary.ts'
import { createLagMeter } from './event-loop-lag.ts'
import { metricNames, type MetricName } from './metric-names.ts'
import { promptTokensOf } from '../prompt-tokens.ts'

export type Metrics = {
  readonly reports: Reports
  /** A request never got to a handler. */
  readonly turnedAway: () => void
  readonly failed: (part: FailingPart) => void
  readonly summaryWritten: (written: Written) => void
  /** All of them in Prometheus' text format, and its content type. */
  readonly text: () => Promise<string>
  readonly contentType: string
  readonly close: () => void
}

/** Counts what is told of requests. No label has more values than there are profiles, but for a few dozen fixed ones. */
export function createMetrics({ version }: { readonly version: string }): Metrics {
  const registry = new Registry()
  const requests = counter(registry, 'foldgate_requests_total')
  const tokens = counter(registry, 'foldgate_prompt_tokens_total')
  const beyond = counter(registry, 'foldgate_requests_beyond_window_total')
  const compactions = counter(registry, 'foldgate_compactions_total')
  const recoveries = counter(registry, 'foldgate_recoveries_total')
  const recalls = counter(registry, 'foldgate_recalls_total')
  const continuations = counter(registry, 'foldgate_continuations_total')
  const failures = counter(registry, 'foldgate_failures_total')
  const summaryCalls = counter(registry, 'foldgate_summary_calls_total')
  const summaryTokens = counter(registry, 'foldgate_summary_tokens_total')
  const pressure = histogram(registry, 'foldgate_pressure', PRESSURE_BUCKETS)
  const added = histogram(registry, 'foldgate_added_seconds', ADDED_BUCKETS_S).labels()
  const firstByte = histogram(registry, 'foldgate_upstream_first_byte_seconds', FIRST_BYTE_BUCKETS_S).labels()
  new Gauge({ ...named('foldgate_build_info'), registers: [registry] }).set({ version }, 1)
  const lagMeter = createLagMeter()
  registry.registerMetric(new LagSummary(lagMeter.read))

  // What has not happened yet is 0, not unknown: rates and alerts need the first step.
  for (const outcome of ['recovered', 'failed', 'waited', 'crowded']) recoveries.inc({ outcome }, 0)
  for (const part of failingParts) failures.inc({ part }, 0)

  // A child is looked up once: the library makes its name anew each time.
  const requestsOf = remembered((action, profile, endpoint) => requests.labels(action, profile, endpoint))
  const tokensOf = remembered((stage, profile) => tokens.labels(stage, profile))
  const pressureOf = remembered((profile) => pressure.labels(profile))
  const count = (action: string, profile: string, endpoint: Endpoint | 'chat_completions'): void =>
    requestsOf(action, profile, endpointName(endpoint)).inc()

  function begun(report: RequestReport, profile: string): void {
    count(report.action, profile, 'chat_completions')
    if (report.isBeyondWindow === true) beyond.inc({ profile })
    for (const compaction of report.compactions) {
      for (const pass of compaction.passes) compactions.inc({ pass, profile })
    }
    if (report.action === 'recovered') recoveries.inc({ outcome: 'recovered' })
    else if (report.refusal === 'overflow' && report.observed === null) recoveries.inc({ outcome: 'failed' })
    else if (report.hasWaited)
      recoveries.inc({ outcome: report.refusal === 'crowded' ? 'crowded' : 'waited' })
    if (report.size !== null) pressureOf(profile).observe(report.size.pressure)
    if (report.attempts > 0) added.observe(report.addedMs / 1000)
    if (report.firstByteMs !== null) firstByte.observe(report.firstByteMs / 1000)
  }

  return {
    reports: {
      begin: (report) => {
        const profile = report.profile ?? NO_PROFILE
        begun(report, profile)
        const { size } = report
        return function ended(end: RequestEnd) {
          const { received, sent, cached } = promptTokensOf(size, end.usage)
          if (received !== null) tokensOf('received', profile).inc(received)
          if (sent !== null) tokensOf('sent', profile).inc(sent)
          if (cached !== null) tokensOf('cached', profile).inc(cached)
          if (end.recalls > 0) recalls.inc({ profile }, end.recalls)
          if (end.continuations > 0) continuations.inc({ profile }, end.continuations)
        }
      },
      relayed: (endpoint, action) => count(action, NO_PROFILE, endpoint),
    },
    turnedAway: () => count('refused', NO_PROFILE, 'other'),
    failed: (part) => failures.inc({ part }),
    summaryWritten: (written) => {
      summaryCalls.inc({ outcome: outcomeOf(written) }, written.calls)
      summaryTokens.inc({ kind: 'prompt' }, written.promptTokens)
      summaryTokens.inc({ kind: 'cached' }, written.cachedTokens)
      summaryTokens.inc({ kind: 'completion' }, written.completionTokens)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: lagMeter.close,
  }
}

// --- internal ---

/** A request that no profile was chosen for. */
const NO_PROFILE = ''

const PRESSURE_BUCKETS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1, 2, 5, 10]
const ADDED_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
const FIRST_BYTE_BUCKETS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

/** Reads the meter when it is scraped. */
class LagSummary extends Summary {
  readonly #read: ReturnType<typeof createLagMeter>['read']

  constructor(read: ReturnType<typeof createLagMeter>['read']) {
    super({ ...named('foldgate_event_loop_lag_seconds'), registers: [] })
    this.#read = read
  }

  override async get(): ReturnType<Summary['get']> {
    const { percentiles, sumSeconds, count } = this.#read()
    const name = 'foldgate_event_loop_lag_seconds' satisfies MetricName
    const described = await super.get()
    return {
      ...described,
      values: [
        ...Array.from(percentiles, ([percentile, value]) => ({
          value,
          labels: { quantile: percentile / 100 },
        })),
        { value: sumSeconds, labels: {}, metricName: `${name}_sum` },
        { value: count, labels: {}, metricName: `${name}_count` },
      ],
    }
  }
}

function named(name: MetricName): { name: string; help: string; labelNames: string[] } {
  const { help, labels } = metricNames[name]
  return { name, help, labelNames: [...labels] }
}

function counter(registry: Registry, name: MetricName): Counter {
  return new Counter({ ...named(name), registers: [registry] })
}

function histogram(registry: Registry, name: MetricName, buckets: number[]): Histogram {
  return new Histogram({ ...named(name), buckets, registers: [registry] })
}

/** The same child for the same labels. */
function remembered<Labels extends readonly string[], Child>(
  childOf: (...labels: Labels) => Child,
): (...labels: Labels) => Child {
  const children = new Map<string, Child>()
  return (...labels) => {
    const name = labels.join('\n')
    const known = children.get(name)
    if (known !== undefined) return known
    const child = childOf(...labels)
    children.set(name, child)
    return child
  }
}

/** `/api/chat` is `api_chat`. */
function endpointName(endpoint: Endpoint | 'chat_completions'): string {
  return endpoint.replace(/^\//, '').replaceAll('/', '_')
}

function outcomeOf(written: Written): 'written' | 'cancelled' | 'failed' {
  if (written.kind === 'written') return 'written'
  return written.reason === 'cancelled' ? 'cancelled' : 'failed'
}
