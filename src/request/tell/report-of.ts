import type { AnsweredRequest, Form, Measure, PreparedRequest, ReadRequest } from '../request.ts'
import type { PassName } from '../../compaction/policy.ts'
import { rangesOf, type PassRange } from '../../compaction/report.ts'
import type { Compaction } from '../../compaction/compaction.ts'
import { bareReport } from '../../http/bare-report.ts'
import { expectedPromptTokens } from '../measure/sent-prompt.ts'
import { isAnswered } from '../send/outcome.ts'
import type { SummaryOutlook } from '../../summaries/outlook.ts'
import { actionOf, summaryState } from './action.ts'
import { isBeyondWindow } from './beyond-window.ts'
import { heldMessages } from './held-messages.ts'
import type { RequestReport, RequestSize, CompactionReport } from '../../activity/request-report.ts'

/** What is told of a request whose answer is settled on. */
export function reportOf(request: AnsweredRequest, outlook: Pick<SummaryOutlook, 'state'>): RequestReport {
  const { chat, measure, outcome, arrival } = request
  return {
    ...describedReport(request, outcome.form),
    ...actionOf(request),
    status: outcome.answer.status,
    refusal: isAnswered(outcome) ? null : (outcome.classification?.class ?? null),
    attempts: outcome.attempts,
    hasWaited: outcome.remedy === 'waited',
    summary: summaryState(outcome, outlook),
    isBeyondWindow: isBeyondWindow(measure, outcome, chat.completion.outputLimit?.tokens ?? null),
    observed: request.observed,
    addedMs: Math.max(0, outcome.firstSentAtMs - arrival.monotonicMs),
    firstByteMs: outcome.firstByteMs,
  }
}

/** What is told of a request that was read, whatever became of it. `sent`: the form that was sent last. */
export function describedReport(request: ReadRequest | PreparedRequest, sent?: Form): RequestReport {
  const report = {
    ...bareReport(request.exchange, request.arrival),
    label: request.options.conversation,
    profile: request.profile.name,
    model: request.model,
    upstream: request.modelKey.upstream,
    isStreamed: request.chat.completion.stream,
  }
  if (!('form' in request)) return report
  const { conversation, parent } = request.remembered
  const form = sent ?? request.form
  return {
    ...report,
    conversation,
    parent,
    // On record, and followed by the next request, whatever becomes of this one.
    compactions: compactionsOf(request, form),
    ...formFacts(request, form),
  }
}

// --- internal ---

/** What there is to tell of the form that was sent, or was to be. */
function formFacts(request: PreparedRequest, form: Form): Pick<RequestReport, 'size' | 'passes' | 'held'> {
  const { measure } = request
  return {
    size: measure === null ? null : sizeOf(request, measure, form),
    passes: form.isRewritten ? (form.compacted?.view.passes ?? []) : [],
    // What was counted is not what is sent where the client's own bytes take the place of repaired ones.
    held: heldMessages(form, form.chat === request.chat ? (measure?.counted ?? null) : null),
  }
}

function sizeOf(request: PreparedRequest, measure: Measure, form: Form): RequestSize {
  const { window, counted, rate, budgetTokens } = measure
  const isBound = counted === null
  return {
    receivedTokens: measure.incomingTokens,
    sentTokens: form.sentTokens,
    isBound,
    // A smaller view after a refusal was counted, whatever came before.
    isSentBound: isBound && form.compacted === null,
    receivedMessages: request.received.messages.length,
    sampledMessages: counted?.sampledMessages ?? 0,
    sentMessages: form.compacted?.view.messages.length ?? form.chat.messages.length,
    pressure: measure.pressure,
    sentPressure: isBound
      ? form.sentTokens / budgetTokens
      : expectedPromptTokens(measure, form) / rate.ratio / budgetTokens,
    windowTokens: window.tokens,
    windowSource: window.source,
    overruledTokens: window.overruledTokens,
    budgetTokens,
    ratio: rate.ratio,
    repeatedTokens: repeatedTokens(request, measure),
  }
}

function repeatedTokens({ chat }: PreparedRequest, { counted }: Measure): number {
  const before = chat.structure.requestPoints.at(-2)
  if (counted === null || before === undefined) return 0
  let tokens = counted.aroundTokens
  for (let index = chat.structure.systemCount; index < before; index += 1)
    tokens += counted.subject.sizes[index] ?? 0
  return tokens
}

/** A compaction that was due, and the one that a refusal made necessary: each is told once. */
function compactionsOf(request: PreparedRequest, sent: Form): readonly CompactionReport[] {
  const all = request.form.made === sent.made ? [sent] : [request.form, sent]
  return all.flatMap(({ made, compacted, sentTokens, chat }) =>
    made === null
      ? []
      : {
          reason: made.compaction.reason,
          point: made.compaction.point,
          passes: compacted?.view.passes ?? [],
          ranges: treatedRanges(made.compaction, compacted?.view.passes ?? [], chat.structure.systemCount),
          isDerived: made.compaction.point < chat.messages.length,
          tokensBefore: made.tokensBefore,
          tokensAfter: sentTokens,
          summaries: request.summaries,
          milliseconds: made.milliseconds,
        },
  )
}

/** Where each pass treated something that is sent: what was folded is not. */
function treatedRanges(
  compaction: Compaction,
  passes: readonly PassName[],
  systemCount: number,
): readonly PassRange[] {
  const tail = compaction.fold?.frontier ?? systemCount
  return rangesOf(compaction, systemCount).flatMap(({ pass, start, end }) => {
    if (!passes.includes(pass)) return []
    const from = pass === 'fold' ? start : Math.max(start, tail)
    return [{ pass, start: from < end ? from : start, end }]
  })
}
