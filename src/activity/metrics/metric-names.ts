/** What a metric is called in the world of Prometheus, and what stands beside its value. */
export type MetricFacts = {
  readonly type: 'counter' | 'histogram' | 'summary' | 'gauge'
  /** Without those that the type brings along: `le` of a histogram, `quantile` of a summary. */
  readonly labels: readonly string[]
  /** One sentence: what it counts or measures, and what its labels say. */
  readonly help: string
}

/**
 * Every metric of Foldgate's own, without the suffixes of histograms and summaries (`_bucket`, `_sum`, `_count`).
 * The names and labels are part of the interface: dashboards and alerts rely on them. None carries the client's
 * model string, of which there are as many as clients like.
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
  foldgate_failures_total: {
    type: 'counter',
    labels: ['part'],
    help: "Failures of Foldgate's own that cost no request, by part (store, reading, repair, measure, compaction, recovery, summary, archive, recall, continuation, observation).",
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

export type MetricName = keyof typeof metricNames
