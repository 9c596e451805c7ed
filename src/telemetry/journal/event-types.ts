import type { LearntWindow } from '../../models/windows.ts'
import type { SummaryResult } from '../../summaries/summary-order.ts'
import type { RequestReport } from '../request-report.ts'
import type { EventFacts } from './rows.ts'

/** What of a request is worth an event: compactions, recoveries, refusals, another form that was accepted. */
export function requestEvents({ row, refusal, compactions, fallback }: RequestReport): readonly EventFacts[] {
  const { action, reason, attempts, status, upstream, conversation, profile, model } = row
  const about = { conversation, profile, model }
  const sizes = { tokens_before: row.tokens_received, tokens_after: row.tokens_sent }
  const larger = fallback === null ? {} : { fallback: fallback.model, fallback_upstream: fallback.upstream }
  const events: EventFacts[] = []
  for (const { summaries, treated, ...compaction } of compactions) {
    events.push({
      ...about,
      type: 'compaction',
      reason: compaction.reason,
      passes: [...compaction.passes],
      ranges: compaction.ranges.map((range) => ({ ...range })),
      tokens_before: compaction.tokensBefore,
      tokens_after: compaction.tokensAfter,
      summary_key: summaries[0] ?? null,
      milliseconds: Math.round(compaction.milliseconds),
      details: {
        ...treated,
        ...(compaction.isDerived ? { derived: true } : {}),
        ...(summaries.length > 1 ? { summaries: summaries.join(' ') } : {}),
      },
    })
  }
  if (action === 'recovered') {
    const details = { attempts, upstream, ...larger }
    events.push({ ...about, ...sizes, type: 'recovery', reason: reason ?? 'recovered', details })
  } else if (action === 'restored') {
    events.push({ ...about, ...sizes, type: 'restored', reason, details: { attempts, upstream } })
  }
  if (action === 'refused') {
    events.push({ ...about, type: 'error', reason, details: { status } })
  } else if ((status ?? 0) >= 400 || refusal !== null) {
    // A profile that only observes recovers nothing: the refusal is the upstream's word to the client.
    const isFailedRecovery = refusal === 'overflow' && row.observed_tokens_sent === null
    events.push({
      ...about,
      ...sizes,
      type: isFailedRecovery ? 'recovery' : 'refusal',
      reason: isFailedRecovery ? 'failed' : (refusal ?? classByStatus(status)),
      details: {
        attempts,
        status,
        upstream,
        ...larger,
        ...(fallback === null ? {} : { fallback_status: fallback.refusedWith }),
      },
    })
  }
  return events
}

/** A window that an upstream's answer taught. */
export function windowEvent({ key, window, by, conversation }: LearntWindow): EventFacts {
  return {
    type: 'window',
    conversation,
    model: key.model,
    reason: by,
    details: { window_tokens: window.tokens, kind: window.kind, upstream: key.upstream },
  }
}

/** A summary that was written, or failed. `cost` in the currency of `prices`, null if unknown. */
export function summaryEvent(
  call: { readonly conversation: string; readonly name: string; readonly milliseconds: number },
  written: SummaryResult,
  cost: number | null,
): EventFacts {
  const isWritten = written.kind === 'written'
  return {
    type: 'summary',
    conversation: call.conversation,
    summary_key: call.name,
    milliseconds: Math.round(call.milliseconds),
    reason: isWritten ? 'written' : written.reason,
    tokens_after: isWritten ? written.tokens : null,
    details: { ...summaryFigures(written), cost },
  }
}

/** What a summary took, by the names that journal and log have for it. */
export function summaryFigures(written: SummaryResult) {
  return {
    calls: written.calls,
    prompt_tokens: written.promptTokens,
    cached_tokens: written.cachedTokens,
    cache_written_tokens: written.cacheWrittenTokens,
    completion_tokens: written.completionTokens,
  }
}

// --- internal ---

/** An answer that was not looked into is told by its status. */
function classByStatus(status: number | null): string {
  return status === 429 ? 'rate' : status === 401 || status === 403 ? 'denied' : 'other'
}
