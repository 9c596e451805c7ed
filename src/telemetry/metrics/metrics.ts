import { Counter, Gauge, Histogram, type MetricConfiguration, Registry, Summary } from 'prom-client'
import { promptCounts } from '../costs.ts'
import { type FailingPart, failingParts } from '../failures.ts'
import { matchesGlob } from '../../profiles/glob.ts'
import type { Listener } from '../request-report.ts'

/**
 * Counts what is told of requests. `models`: patterns on those that have figures of their own. No label has more values than
 * there are profiles, upstreams or such patterns, but for fixed ones.
 */
export function createMetrics(version: string, models: readonly string[]) {
  const registry = new Registry()
  const of = (name: string, { help, labels }: NamedFacts) => {
    return { name, help, labelNames: [...labels], registers: [registry] }
  }
  const other = (name: keyof typeof otherFacts) => of(name, otherFacts[name])
  const histogram = (name: keyof typeof otherFacts, buckets: number[]) =>
    new Histogram({ ...other(name), buckets })
  const counters = new Map(
    Object.entries(counterFacts).map(([name, facts]) => [name, new Counter(of(name, facts))]),
  )
  const pressure = histogram('foldgate_pressure', PRESSURE_BUCKETS)
  const added = histogram('foldgate_added_seconds', ADDED_BUCKETS_S)
  const firstByte = histogram('foldgate_upstream_first_byte_seconds', FIRST_BYTE_BUCKETS_S)
  new Gauge(other('foldgate_build_info')).set({ version }, 1)
  const lagTimer = measureLag(other('foldgate_event_loop_lag_seconds'))

  /** Null is no count. */
  function count(name: CounterName, labels: Record<string, string | number>, value: number | null = 1): void {
    if (value !== null) counters.get(name)?.inc(labels, value)
  }

  // What has not happened yet is 0, not unknown: rates and alerts need the first step.
  for (const outcome of ['recovered', 'fallback', 'failed', 'waited', 'crowded'])
    count('foldgate_recoveries_total', { outcome }, 0)
  for (const part of failingParts) count('foldgate_failures_total', { part }, 0)

  const request = (action: string, profile: string, endpoint: string): void =>
    count('foldgate_requests_total', { action, profile, endpoint: endpointLabel(endpoint) })

  const patternOf = (model: string): string | undefined =>
    models.find((pattern) => matchesGlob(pattern, model))

  const listener: Required<Listener> = {
    begun: ({ row, compactions, resolved, refusal, hasWaited, refusedThoughts }) => {
      const { action, dialect } = row
      const profile = row.profile ?? NO_PROFILE
      request(action, profile, dialect ?? 'other')
      const model = patternOf(row.model)
      if (model !== undefined) count('foldgate_model_requests_total', { action, model })
      if (row.status !== null && row.status >= 400) {
        const code = action === 'refused' ? (row.reason ?? '') : ''
        // A request that was refused before names whatever its client liked.
        const upstream = code === '' || code.startsWith('upstream_') ? row.upstream : ''
        const endpoint = endpointLabel(dialect ?? 'other')
        count('foldgate_error_answers_total', { status: row.status, code, upstream, endpoint })
      }
      if (row.beyond_window === true) count('foldgate_requests_beyond_window_total', { profile })
      for (const pass of compactions.flatMap(({ passes }) => passes))
        count('foldgate_compactions_total', { pass, profile })
      if (resolved > 0) count('foldgate_results_resolved_total', { profile }, resolved)
      const isFailed = refusal === 'overflow' && row.observed_tokens_sent === null
      const waited = hasWaited ? (refusal === 'crowded' ? 'crowded' : 'waited') : null
      const outcome = action === 'recovered' ? (row.reason ?? 'recovered') : isFailed ? 'failed' : waited
      if (outcome !== null) count('foldgate_recoveries_total', { outcome })
      if (refusedThoughts !== null)
        count('foldgate_thoughts_refused_total', { refusal: refusedThoughts, profile })
      if (row.pressure !== null) pressure.observe({ profile }, row.pressure)
      if (row.attempts > 0) added.observe(row.added_ms / 1000)
      if (row.first_byte_ms !== null) firstByte.observe(row.first_byte_ms / 1000)
    },
    ended: (report, { usage, removedThoughts, recalls, continuations }) => {
      const profile = report.row.profile ?? NO_PROFILE
      const { received, sent, cached, written } = promptCounts(report, usage)
      const model = patternOf(report.row.model)
      for (const [stage, tokens] of Object.entries({ received, sent, cached, cache_written: written })) {
        count('foldgate_prompt_tokens_total', { stage, profile }, tokens)
        if (model !== undefined) count('foldgate_model_prompt_tokens_total', { stage, model }, tokens)
      }
      for (const [reason, items] of Object.entries(removedThoughts ?? {})) {
        const cause = reason === 'prefix' ? report.prefixCause : 'other'
        count('foldgate_reasoning_removed_total', { cause, reason, profile }, items)
      }
      if (recalls > 0) count('foldgate_recalls_total', { profile }, recalls)
      if (continuations > 0) count('foldgate_continuations_total', { profile }, continuations)
    },
    relayed: (endpoint, action) => request(action, NO_PROFILE, endpoint),
    turnedAway: () => request('refused', NO_PROFILE, 'other'),
    summary: (_call, written) => {
      const isCancelled = written.kind === 'failed' && written.reason === 'cancelled'
      const outcome = isCancelled ? 'cancelled' : written.kind
      count('foldgate_summary_calls_total', { outcome }, written.calls)
      const { promptTokens: prompt, cachedTokens: cached, completionTokens: completion } = written
      const tokens = { prompt, cached, cache_written: written.cacheWrittenTokens, completion }
      for (const [kind, value] of Object.entries(tokens))
        count('foldgate_summary_tokens_total', { kind }, value)
    },
  }
  return {
    ...listener,
    failed: (part: FailingPart): void => count('foldgate_failures_total', { part }),
    /** All of them in Prometheus' text format, and its content type. */
    text: (): Promise<string> => registry.metrics(),
    contentType: registry.contentType,
    close: (): void => clearInterval(lagTimer),
  }
}

/** What a metric is called in the world of Prometheus, and what stands beside its value. */
export type MetricFacts = NamedFacts & { readonly type: 'counter' | 'histogram' | 'summary' | 'gauge' }

type NamedFacts = {
  /** Without those that the type brings along: `le` of a histogram, `quantile` of a summary. */
  readonly labels: readonly string[]
  /** One sentence: what it counts or measures, and what its labels say. */
  readonly help: string
}

const counterFacts = {
  foldgate_requests_total: {
    labels: ['action', 'profile', 'endpoint'],
    help: "Requests, by what was done with them (relayed, compacted, recovered, restored, bypassed, failed-open; refused with an error of Foldgate's own; left by its client before the answer), by profile, and by the API that they came by (chat_completions, responses, messages, completions, api_chat, other).",
  },
  foldgate_error_answers_total: {
    labels: ['status', 'code', 'upstream', 'endpoint'],
    help: "Generation requests that were answered with an error, by its status, by the code of Foldgate's own errors (empty for those that the upstream answered), by the upstream (empty where none was asked), and by the API that they came by.",
  },
  foldgate_prompt_tokens_total: {
    labels: ['stage', 'profile'],
    help: 'Prompt tokens of conversations, in the provider’s count where it stated one, else by own count: received, sent, and of these cached and cache_written (read from its prompt cache and written to it). Prompts that nobody counted are left out.',
  },
  foldgate_model_requests_total: {
    labels: ['action', 'model'],
    help: 'Requests for the models of admin.metrics_models, by its pattern and by what was done with them.',
  },
  foldgate_model_prompt_tokens_total: {
    labels: ['stage', 'model'],
    help: 'Prompt tokens of the models of admin.metrics_models, by its pattern, as foldgate_prompt_tokens_total counts them.',
  },
  foldgate_requests_beyond_window_total: {
    labels: ['profile'],
    help: 'Requests whose conversation would not have fitted the window as it came.',
  },
  foldgate_compactions_total: {
    labels: ['pass', 'profile'],
    help: 'Compactions that were made, once for each pass that stands in their outcome (render, preview, clear, fold, clip).',
  },
  foldgate_results_resolved_total: {
    labels: ['profile'],
    help: 'Results that only refer to an earlier one which a compaction took away, and were sent with its text.',
  },
  foldgate_recoveries_total: {
    labels: ['outcome'],
    help: 'Requests that the upstream refused as too long and that were tightened and sent again: recovered, or failed where it went on refusing; fallback if a larger model answered in the place of the one that refused every form (overflow.fallback). And those that met a memory which others had filled, and were sent again after a moment: waited, or crowded where it stayed full.',
  },
  foldgate_failures_total: {
    labels: ['part'],
    help: "Failures of Foldgate's own that cost no request, by part (store, reading, repair, measure, compaction, recovery, summary, archive, recall, continuation, observation).",
  },
  foldgate_reasoning_removed_total: {
    labels: ['cause', 'reason', 'profile'],
    help: "Reasoning items that the upstream left out of a prompt by its own word (input_transformations), each time that it says so, by its reason (prefix, model, organization, end-user, turn, other). The cause is foldgate if the prefix had changed and the request was rewritten or its conversation compacted before: nearly always Foldgate's doing, which should stay at 0. It is client if it went on as it came and was never compacted, or if tools, instructions, schema or leading system messages were seen to change since the compaction; and other if the reason is not the prefix.",
  },
  foldgate_thoughts_refused_total: {
    labels: ['refusal', 'profile'],
    help: 'Requests that the upstream refused on account of the thoughts in them, and answered in another form: stale (some were made on another prefix; all of them were left out) or missing (those of the newest reply were demanded, and put back).',
  },
  foldgate_recalls_total: {
    labels: ['profile'],
    help: 'How often a model read back what had been folded, within one reply, by profile.',
  },
  foldgate_continuations_total: {
    labels: ['profile'],
    help: 'How often a reply that was cut by the output limit went on, by profile.',
  },
  foldgate_summary_calls_total: {
    labels: ['outcome'],
    help: 'Calls to a summary model, by how they ended: written, failed or cancelled.',
  },
  foldgate_summary_tokens_total: {
    labels: ['kind'],
    help: 'Tokens of calls to a summary model as its provider counted them: prompt, cached (a part of prompt) and completion.',
  },
} as const satisfies Readonly<Record<string, NamedFacts>>

type CounterName = keyof typeof counterFacts

const otherFacts = {
  foldgate_pressure: {
    type: 'histogram',
    labels: ['profile'],
    help: 'How far incoming conversations fill the budget, which is the window less what is kept for the reply: 1 is full.',
  },
  foldgate_added_seconds: {
    type: 'histogram',
    labels: [],
    help: "Time from a body's arrival until the first upstream request, the wait for a summary that is due included.",
  },
  foldgate_upstream_first_byte_seconds: {
    type: 'histogram',
    labels: [],
    help: 'Time from the last upstream request until the headers of its answer.',
  },
  foldgate_event_loop_lag_seconds: {
    type: 'summary',
    labels: [],
    help: 'How long work had to wait for the event loop, by quantile (0.5, 0.9, 0.99).',
  },
  foldgate_build_info: {
    type: 'gauge',
    labels: ['version'],
    help: 'Always 1; the label says which version runs.',
  },
} as const satisfies Readonly<Record<string, MetricFacts>>

/**
 * Every metric of Foldgate's own, without the suffixes of histograms and summaries (`_bucket`, `_sum`, `_count`).
 * The names and labels are part of the interface: dashboards and alerts rely on them. None carries the client's
 * model string, of which there are as many as clients like; `model` is a pattern of the operator's.
 *
 * @internal exported for tests
 */
export const metricNames: Readonly<Record<string, MetricFacts>> = {
  ...Object.fromEntries(
    Object.entries(counterFacts).map(([name, facts]) => [name, { type: 'counter' as const, ...facts }]),
  ),
  ...otherFacts,
}

// --- internal ---

/** `chat-completions` is `chat_completions`, for example. */
function endpointLabel(endpoint: string): string {
  return endpoint.replace(/^\//, '').replaceAll(/[/-]/g, '_')
}

/** A request that no profile was chosen for. */
const NO_PROFILE = ''

const PRESSURE_BUCKETS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1, 2, 5, 10]
const ADDED_BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
const FIRST_BYTE_BUCKETS_S = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

/** How often the event loop is asked, in milliseconds. */
const LAG_EVERY_MS = 20

/** Observes how late a timer comes: so long did all other work have to wait, too. */
function measureLag(metric: MetricConfiguration<string>): NodeJS.Timeout {
  const lag = new Summary({
    ...metric,
    percentiles: [0.5, 0.9, 0.99],
    // Of the last one to two minutes.
    maxAgeSeconds: 120,
    ageBuckets: 2,
  })
  let beforeMs = performance.now()
  return setInterval(() => {
    const nowMs = performance.now()
    lag.observe(Math.max(0, nowMs - beforeMs - LAG_EVERY_MS) / 1000)
    beforeMs = nowMs
  }, LAG_EVERY_MS).unref()
}
