import type { RequestEnd, RequestReport } from '../request-report.ts'
import type { PromptCosts } from '../prices/prompt-costs.ts'
import type { UsageRow } from './rows.ts'

/** The row of a request; what only its end tells is filled in by `endedRow`. */
export function begunRow(report: RequestReport, process: string): UsageRow {
  const { size, observed } = report
  return {
    time: new Date(report.startedAtMs).toISOString(),
    process,
    conversation: report.conversation,
    parent: report.parent,
    label: report.label,
    client_key: report.clientKey,
    profile: report.profile,
    model: report.model,
    answered_by: null,
    upstream: report.upstream,
    action: report.action,
    reason: report.reason,
    status: report.status,
    outcome: 'finished',
    streamed: report.isStreamed,
    attempts: report.attempts,
    window_tokens: size?.windowTokens ?? null,
    window_source: size?.windowSource ?? null,
    overruled_tokens: size?.overruledTokens ?? null,
    budget_tokens: size?.budgetTokens ?? null,
    messages_received: size?.receivedMessages ?? null,
    messages_sent: size?.sentMessages ?? null,
    tokens_received: size?.receivedTokens ?? null,
    tokens_sent: size?.sentTokens ?? null,
    tokens_are_bounds: size?.isBound ?? false,
    pressure: rounded(size?.pressure ?? null),
    sent_pressure: rounded(size?.sentPressure ?? null),
    passes: [...report.passes],
    summary: report.summary,
    compaction: report.compactions.at(-1)?.reason ?? null,
    beyond_window: report.isBeyondWindow,
    observed_tokens_sent: observed?.sentTokens ?? null,
    observed_passes: [...(observed?.passes ?? [])],
    prompt_tokens: null,
    cached_tokens: null,
    completion_tokens: null,
    prompt_cost: null,
    whole_prompt_cost: null,
    recalls: 0,
    continuations: 0,
    added_ms: rounded(report.addedMs) ?? 0,
    first_byte_ms: rounded(report.firstByteMs),
    total_ms: 0,
  }
}

export function endedRow(row: UsageRow, end: RequestEnd, costs: PromptCosts): UsageRow {
  const { usage, answeredBy } = end
  return {
    ...row,
    answered_by: answeredBy === row.model ? null : (answeredBy?.slice(0, NAME_CHARS_MAX) ?? null),
    outcome: end.outcome,
    prompt_tokens: usage?.promptTokens ?? null,
    cached_tokens: usage?.cachedTokens ?? null,
    completion_tokens: usage?.completionTokens ?? null,
    prompt_cost: costs.sent,
    whole_prompt_cost: costs.whole,
    recalls: end.recalls,
    continuations: end.continuations,
    total_ms: rounded(end.totalMs) ?? 0,
  }
}

// --- internal ---

/** A server may name its model as it likes. */
const NAME_CHARS_MAX = 512

/** Three digits behind the point are more than anybody reads. */
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1000) / 1000
}
