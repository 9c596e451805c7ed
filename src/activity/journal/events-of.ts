import type { LearntWindow } from '../../models/windows.ts'
import type { RequestReport, CompactionReport } from '../request-report.ts'
import type { Written } from '../../summaries/write-summary.ts'
import type { JournalEvent } from './rows.ts'

/** What every event of a process says alike. */
export type Stamp = { readonly time: string; readonly process: string }

/** What happened to a request that is worth an event: compactions, recoveries, refusals, another form that was welcome. */
export function eventsOf(report: RequestReport, stamp: () => Stamp): readonly JournalEvent[] {
  const isOrdinary = report.action === 'relayed' || report.action === 'compacted'
  if (isOrdinary && report.compactions.length === 0 && (report.status ?? 0) < 400 && report.refusal === null)
    return []
  const about = {
    ...bareEvent(stamp()),
    conversation: report.conversation,
    profile: report.profile,
    model: report.model,
  }
  const events: JournalEvent[] = report.compactions.map((compaction) => ({
    ...about,
    ...compactionFacts(compaction),
  }))
  const sizes = {
    tokens_before: report.size?.receivedTokens ?? null,
    tokens_after: report.size?.sentTokens ?? null,
  }
  const { attempts, status, upstream } = report
  if (report.action === 'recovered') {
    events.push({
      ...about,
      ...sizes,
      type: 'recovery',
      reason: 'recovered',
      details: { attempts, upstream },
    })
  } else if (report.action === 'restored') {
    events.push({
      ...about,
      ...sizes,
      type: 'restored',
      reason: report.reason,
      details: { attempts, upstream },
    })
  }
  if (report.action === 'refused') {
    events.push({ ...about, type: 'error', reason: report.reason, details: { status } })
  } else if ((status ?? 0) >= 400 || report.refusal !== null) {
    // Who only observes recovers nothing: the refusal is the upstream's word to the client.
    const type = report.refusal === 'overflow' && report.observed === null ? 'recovery' : 'refusal'
    const reason = type === 'recovery' ? 'failed' : (report.refusal ?? classByStatus(status))
    events.push({ ...about, ...sizes, type, reason, details: { attempts, status, upstream } })
  }
  return events
}

/** A window that an upstream's answer taught. */
export function windowEvent({ key, window, by, conversation }: LearntWindow, stamp: Stamp): JournalEvent {
  return {
    ...bareEvent(stamp),
    type: 'window',
    conversation,
    model: key.model,
    reason: by,
    details: { window_tokens: window.tokens, kind: window.kind, upstream: key.upstream },
  }
}

export type SummaryEnd = {
  readonly conversation: string
  /** What the summary is called. */
  readonly name: string
  readonly written: Written
  /** What it cost in the currency of `prices`; null where that is unknown. */
  readonly cost: number | null
  readonly milliseconds: number
}

/** A summary that was written, or failed. */
export function summaryEvent(
  { conversation, name, written, cost, milliseconds }: SummaryEnd,
  stamp: Stamp,
): JournalEvent {
  const isWritten = written.kind === 'written'
  return {
    ...bareEvent(stamp),
    type: 'summary',
    conversation,
    summary_key: name,
    milliseconds,
    reason: isWritten ? 'written' : written.reason,
    tokens_after: isWritten ? written.tokens : null,
    details: {
      calls: written.calls,
      prompt_tokens: written.promptTokens,
      cached_tokens: written.cachedTokens,
      completion_tokens: written.completionTokens,
      cost,
    },
  }
}

/** A part of Foldgate that failed, or an error of its own that was answered; `times` of them since the last such event. */
export function troubleEvent(
  { type, reason, times, details }: Trouble & { readonly times: number },
  stamp: Stamp,
): JournalEvent {
  return { ...bareEvent(stamp), type, reason, details: { ...details, times } }
}

export type Trouble = {
  readonly type: 'failure' | 'error'
  readonly reason: string
  readonly details: Readonly<Record<string, string>>
}

export function compactRequestedEvent(conversation: string, stamp: Stamp): JournalEvent {
  return { ...bareEvent(stamp), type: 'compact-requested', conversation, reason: 'operator' }
}

// --- internal ---

function bareEvent({ time, process }: Stamp): JournalEvent {
  return {
    time,
    process,
    type: 'error',
    conversation: null,
    profile: null,
    model: null,
    reason: null,
    passes: [],
    ranges: [],
    tokens_before: null,
    tokens_after: null,
    summary_key: null,
    milliseconds: null,
    details: {},
  }
}

function compactionFacts(compaction: CompactionReport): Partial<JournalEvent> & Pick<JournalEvent, 'type'> {
  return {
    type: 'compaction',
    reason: compaction.reason,
    passes: [...compaction.passes],
    ranges: compaction.ranges.map((range) => ({ ...range })),
    tokens_before: compaction.tokensBefore,
    tokens_after: compaction.tokensAfter,
    summary_key: compaction.summaries[0] ?? null,
    milliseconds: Math.round(compaction.milliseconds),
    details: {
      ...(compaction.isDerived ? { derived: true } : {}),
      ...(compaction.summaries.length > 1 ? { summaries: compaction.summaries.join(' ') } : {}),
    },
  }
}

/** An answer that was not looked into is told by its status. */
function classByStatus(status: number | null): string {
  return status === 429 ? 'rate' : status === 401 || status === 403 ? 'denied' : 'other'
}
