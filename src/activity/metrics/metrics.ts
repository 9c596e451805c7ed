import type { SummaryResult } from '../../summaries/order.ts'
import { promptCounts } from '../costs.ts'
import { type FailingPart, failingParts } from '../failures.ts'
import type { Listener } from '../reports.ts'
import type { Action, Endpoint } from '../request-report.ts'

export type Metrics = Required<Listener> & {
  readonly relayed: (endpoint: Endpoint, action: Action) => void
  /** A request never got to a handler. */
  readonly turnedAway: () => void
  readonly failed: (part: FailingPart) => void
  readonly summaryWritten: (written: SummaryResult) => void
  /** All of them in Prometheus' text format, made when it is asked for, and its content type. */
  readonly text: () => Promise<string>
  readonly contentType: string
  readonly close: () => void
}

/** Counts what is told of requests. No label has more values than there are profiles or upstreams, but for fixed ones. */
export function createMetrics({ version }: { readonly version: string }): Metrics {
  const all = new Map(Object.keys(metricNames).map((name) => [name, new Map<string, Series>()]))

  function add<Name extends MetricName>(name: Name, values: LabelValues<Name>, amount: number): void {
    const key = values.join('\n')
    const series = all.get(name)?.get(key) ?? open(name, values)
    const { count, bounds, within, latest } = series
    series.sum += amount
    series.count = count + 1
    if (latest !== null) latest[count % LATEST_VALUES] = amount
    for (let place = bounds.length - 1; place >= 0 && amount <= (bounds[place] ?? 0); place -= 1)
      within[place] = (within[place] ?? 0) + 1
  }

  function open(name: MetricName, values: readonly (string | null)[]): Series {
    const { type, labels, bounds = [] }: MetricFacts = metricNames[name]
    const series = {
      labels: labels.map((label, place) => writtenLabel(label, values[place] ?? '')).join(','),
      sum: 0,
      count: 0,
      bounds,
      within: bounds.map(() => 0),
      latest: type === 'summary' ? new Float64Array(LATEST_VALUES) : null,
    }
    all.get(name)?.set(values.join('\n'), series)
    return series
  }

  // What has not happened yet is 0, not unknown: rates and alerts need the first step.
  for (const outcome of ['recovered', 'fallback', 'failed', 'waited', 'crowded'])
    add('foldgate_recoveries_total', [outcome], 0)
  for (const part of failingParts) add('foldgate_failures_total', [part], 0)
  open('foldgate_added_seconds', [])
  open('foldgate_upstream_first_byte_seconds', [])
  open('foldgate_event_loop_lag_seconds', [])
  add('foldgate_build_info', [version], 1)
  let beforeMs = performance.now()
  // How late a timer comes: so long did all other work have to wait, too.
  const lagTimer = setInterval(() => {
    const nowMs = performance.now()
    add('foldgate_event_loop_lag_seconds', [], Math.max(0, nowMs - beforeMs - LAG_EVERY_MS) / 1000)
    beforeMs = nowMs
  }, LAG_EVERY_MS).unref()

  return {
    begun: ({ row, compactions, resolved, refusal, hasWaited, refusedThoughts }) => {
      const { action, profile, dialect } = row
      const endpoint = dialect ?? 'other'
      add('foldgate_requests_total', [action, profile, endpoint], 1)
      if (row.status !== null && row.status >= 400) {
        const code = action === 'refused' ? (row.reason ?? '') : ''
        // A request that was refused before names whatever its client liked.
        const upstream = code === '' || code.startsWith('upstream_') ? row.upstream : ''
        add('foldgate_error_answers_total', [String(row.status), code, upstream, endpoint], 1)
      }
      if (row.beyond_window === true) add('foldgate_requests_beyond_window_total', [profile], 1)
      for (const { passes } of compactions)
        for (const pass of passes) add('foldgate_compactions_total', [pass, profile], 1)
      if (resolved > 0) add('foldgate_results_resolved_total', [profile], resolved)
      const recovery =
        action === 'recovered'
          ? (row.reason ?? 'recovered')
          : refusal === 'overflow' && row.observed_tokens_sent === null
            ? 'failed'
            : hasWaited && (refusal === 'crowded' ? 'crowded' : 'waited')
      if (recovery !== false) add('foldgate_recoveries_total', [recovery], 1)
      if (refusedThoughts !== null) add('foldgate_thoughts_refused_total', [refusedThoughts, profile], 1)
      if (row.pressure !== null) add('foldgate_pressure', [profile], row.pressure)
      if (row.attempts > 0) add('foldgate_added_seconds', [], row.added_ms / 1000)
      if (row.first_byte_ms !== null)
        add('foldgate_upstream_first_byte_seconds', [], row.first_byte_ms / 1000)
    },
    ended: (report, { usage, removedThoughts, recalls, continuations }) => {
      const { profile } = report.row
      const { received, sent, cached, written } = promptCounts(report, usage)
      if (received !== null) add('foldgate_prompt_tokens_total', ['received', profile], received)
      if (sent !== null) add('foldgate_prompt_tokens_total', ['sent', profile], sent)
      if (cached !== null) add('foldgate_prompt_tokens_total', ['cached', profile], cached)
      if (written !== null) add('foldgate_prompt_tokens_total', ['cache_written', profile], written)
      for (const [reason, items] of Object.entries(removedThoughts ?? {})) {
        const cause = reason === 'prefix' ? report.prefixCause : 'other'
        add('foldgate_reasoning_removed_total', [cause, reason, profile], items)
      }
      if (recalls > 0) add('foldgate_recalls_total', [profile], recalls)
      if (continuations > 0) add('foldgate_continuations_total', [profile], continuations)
    },
    relayed: (endpoint, action) => add('foldgate_requests_total', [action, null, endpoint], 1),
    turnedAway: () => add('foldgate_requests_total', ['refused', null, 'other'], 1),
    failed: (part) => add('foldgate_failures_total', [part], 1),
    summaryWritten: (written) => {
      const isCancelled = written.kind === 'failed' && written.reason === 'cancelled'
      add('foldgate_summary_calls_total', [isCancelled ? 'cancelled' : written.kind], written.calls)
      add('foldgate_summary_tokens_total', ['prompt'], written.promptTokens)
      add('foldgate_summary_tokens_total', ['cached'], written.cachedTokens)
      add('foldgate_summary_tokens_total', ['cache_written'], written.cacheWrittenTokens)
      add('foldgate_summary_tokens_total', ['completion'], written.completionTokens)
    },
    text: () => {
      const texts = Object.entries(metricNames).map(([name, facts]) =>
        metricText(name, facts, all.get(name)?.values() ?? []),
      )
      return Promise.resolve(`${texts.join('\n\n')}\n`)
    },
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    close: () => clearInterval(lagTimer),
  }
}

/** What a metric is called in the world of Prometheus, and what stands beside its value. */
export type MetricFacts = {
  readonly type: 'counter' | 'histogram' | 'summary' | 'gauge'
  /** Without those that the type brings along: `le` of a histogram, `quantile` of a summary. */
  readonly labels: readonly string[]
  /** Of a histogram, ascending: how many values are not above each of them is told. */
  readonly bounds?: readonly number[]
  /** One sentence: what it counts or measures, and what its labels say. */
  readonly help: string
}

/**
 * Every metric of Foldgate's own, without the suffixes of histograms and summaries (`_bucket`, `_sum`, `_count`).
 * The names and labels are part of the interface: dashboards and alerts rely on them. None carries the client's
 * model string, of which there are as many as clients like.
 *
 * @internal exported for tests
 */
export const metricNames = {
  foldgate_requests_total: {
    type: 'counter',
    labels: ['action', 'profile', 'endpoint'],
    help: "Requests, by what was done with them (relayed, compacted, recovered, restored, bypassed, failed-open; refused with an error of Foldgate's own; left by its client before the answer), by profile, and by the API that they came by (chat_completions, responses, messages, completions, api_chat, other).",
  },
  foldgate_error_answers_total: {
    type: 'counter',
    labels: ['status', 'code', 'upstream', 'endpoint'],
    help: "Generation requests that were answered with an error, by its status, by the code of Foldgate's own errors (empty for those that the upstream answered), by the upstream (empty where none was asked), and by the API that they came by.",
  },
  foldgate_prompt_tokens_total: {
    type: 'counter',
    labels: ['stage', 'profile'],
    help: 'Prompt tokens of conversations, in the provider’s count where it stated one, else by own count: received, sent, and of these cached and cache_written (read from its prompt cache and written to it). Prompts that nobody counted are left out.',
  },
  foldgate_requests_beyond_window_total: {
    type: 'counter',
    labels: ['profile'],
    help: 'Requests whose conversation would not have fitted the window as it came.',
  },
  foldgate_compactions_total: {
    type: 'counter',
    labels: ['pass', 'profile'],
    help: 'Compactions that were made, once for each pass that stands in their outcome (render, preview, clear, fold, clip).',
  },
  foldgate_results_resolved_total: {
    type: 'counter',
    labels: ['profile'],
    help: 'Results that only refer to an earlier one which a compaction took away, and were sent with its text.',
  },
  foldgate_recoveries_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Requests that the upstream refused as too long and that were tightened and sent again: recovered, or failed where it went on refusing; fallback if a larger model answered in the place of the one that refused every form (overflow.fallback). And those that met a memory which others had filled, and were sent again after a moment: waited, or crowded where it stayed full.',
  },
  foldgate_reasoning_removed_total: {
    type: 'counter',
    labels: ['cause', 'reason', 'profile'],
    help: "Reasoning items that the upstream left out of a prompt by its own word (input_transformations), each time that it says so, by its reason (prefix, model, organization, end-user, turn, other). The cause is foldgate if the prefix had changed and the request was rewritten or its conversation compacted before: nearly always Foldgate's doing, which should stay at 0. It is client if it went on as it came and was never compacted, or if tools, instructions, schema or leading system messages were seen to change since the compaction; and other if the reason is not the prefix.",
  },
  foldgate_thoughts_refused_total: {
    type: 'counter',
    labels: ['refusal', 'profile'],
    help: 'Requests that the upstream refused on account of the thoughts in them, and answered in another form: stale (some were made on another prefix; all of them were left out) or missing (those of the newest reply were demanded, and put back).',
  },
  foldgate_recalls_total: {
    type: 'counter',
    labels: ['profile'],
    help: 'How often a model read back what had been folded, within one reply, by profile.',
  },
  foldgate_continuations_total: {
    type: 'counter',
    labels: ['profile'],
    help: 'How often a reply that was cut by the output limit went on, by profile.',
  },
  foldgate_failures_total: {
    type: 'counter',
    labels: ['part'],
    help: "Failures of Foldgate's own that cost no request, by part (store, reading, repair, measure, compaction, recovery, summary, archive, recall, continuation, observation).",
  },
  foldgate_summary_calls_total: {
    type: 'counter',
    labels: ['outcome'],
    help: 'Calls to a summary model, by how they ended: written, failed or cancelled.',
  },
  foldgate_summary_tokens_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Tokens of calls to a summary model as its provider counted them: prompt, cached (a part of prompt) and completion.',
  },
  foldgate_pressure: {
    type: 'histogram',
    labels: ['profile'],
    bounds: [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1, 2, 5, 10],
    help: 'How far incoming conversations fill the budget, which is the window less what is kept for the reply: 1 is full.',
  },
  foldgate_added_seconds: {
    type: 'histogram',
    labels: [],
    bounds: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    help: "Time from a body's arrival until the first upstream request, the wait for a summary that is due included.",
  },
  foldgate_upstream_first_byte_seconds: {
    type: 'histogram',
    labels: [],
    bounds: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600],
    help: 'Time from the last upstream request until the headers of its answer.',
  },
  foldgate_build_info: {
    type: 'gauge',
    labels: ['version'],
    help: 'Always 1; the label says which version runs.',
  },
  foldgate_event_loop_lag_seconds: {
    type: 'summary',
    labels: [],
    help: 'How long work had to wait for the event loop, by quantile (0.5, 0.9, 0.99).',
  },
} as const satisfies Readonly<Record<string, MetricFacts>>

// --- internal ---

type MetricName = keyof typeof metricNames

/** A value for each label, in their order; null is an empty one, as of a request that no profile was chosen for. */
type LabelValues<Name extends MetricName> = ValueOfEach<(typeof metricNames)[Name]['labels']>
type ValueOfEach<Labels extends readonly string[]> = { readonly [Place in keyof Labels]: string | null }

/** What was counted or observed under one name with the same values of its labels. */
type Series = {
  /** As the text has them. */
  readonly labels: string
  sum: number
  count: number
  readonly bounds: readonly number[]
  /** How many of the values are not above each of the bounds. */
  readonly within: number[]
  /** Of a summary: the latest values, in a ring; null of any other. */
  readonly latest: Float64Array | null
}

/** As the text has it: of an endpoint `/api/chat` is `api_chat`, and `chat-completions` is `chat_completions`. */
function writtenLabel(label: string, value: string): string {
  const plain = label === 'endpoint' ? value.replace(/^\//, '').replaceAll(/[/-]/g, '_') : value
  return `${label}="${plain.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`
}

function metricText(name: string, { type, help }: MetricFacts, found: Iterable<Series>): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
  for (const { labels, sum, count, bounds, within, latest } of found) {
    const tell = (suffix: string, brought: string, value: number): void => {
      const both = [brought, labels].filter((each) => each !== '').join(',')
      lines.push(`${name}${suffix}${both === '' ? '' : `{${both}}`} ${value}`)
    }
    if (type === 'counter' || type === 'gauge') {
      tell('', '', sum)
      continue
    }
    for (const [place, bound] of bounds.entries()) tell('_bucket', `le="${bound}"`, within[place] ?? 0)
    if (latest === null) tell('_bucket', 'le="+Inf"', count)
    else {
      const sorted = latest.slice(0, count).sort()
      for (const share of QUANTILES)
        tell('', `quantile="${share}"`, sorted[Math.ceil(share * sorted.length) - 1] ?? 0)
    }
    tell('_sum', '', sum)
    tell('_count', '', count)
  }
  return lines.join('\n')
}

const QUANTILES = [0.5, 0.9, 0.99]

/** How often the event loop is asked, in milliseconds, and of how many answers its quantiles are made: those of two minutes. */
const LAG_EVERY_MS = 20
const LATEST_VALUES = 6_000
