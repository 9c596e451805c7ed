import type { ChatRequest, Measure, Prepared, Ready, Outcome } from '../request.ts'
import type { PassName } from '../../compaction/policy.ts'
import { rangesOf, type PassRange } from '../../compaction/report.ts'
import type { Compaction } from '../../compaction/compaction.ts'
import { headerValue } from '../../upstream/credential.ts'
import { expectedPromptTokens } from '../measure/sent-prompt.ts'
import { isAnswered } from '../send/send.ts'
import type { SummaryOutlook } from '../../proxy/summaries/summarizer.ts'
import type { ClientRequest } from '../../http/client-request.ts'
import { actionOf, summaryState } from './action.ts'
import type { Arrival } from '../../activity/arrival.ts'
import { isBeyondWindow } from './beyond-window.ts'
import { heldMessages } from './held-messages.ts'
import type { RequestReport, RequestSize, CompactionReport } from '../../activity/request-report.ts'

/** What is told of a request whose answer is settled on. */
export function reportOf(
  request: ChatRequest,
  ready: Ready,
  outcome: Outcome,
  outlook: Pick<SummaryOutlook, 'state'>,
  arrival: Arrival,
): RequestReport {
  const { chat } = request
  const { measure } = ready
  return {
    ...describedReport(request, ready, arrival, outcome.prepared),
    ...actionOf(outcome, ready),
    status: outcome.answer.status,
    refusal: isAnswered(outcome) ? null : (outcome.classification?.class ?? null),
    attempts: outcome.attempts,
    hasWaited: outcome.remedy === 'waited',
    summary: summaryState(outcome, outlook),
    isBeyondWindow: isBeyondWindow(measure, outcome, chat.completion.outputLimit?.tokens ?? null),
    observed: ready.observed,
    addedMs: Math.max(0, outcome.firstSentAtMs - arrival.monotonicMs),
    firstByteMs: outcome.firstByteMs,
  }
}

/** What is told of a request that was read, and got no answer of its upstream's. `sent`: the form that was sent last. */
export function describedReport(
  request: ChatRequest,
  ready: Ready | null,
  arrival: Arrival,
  sent: Prepared | null = ready?.prepared ?? null,
): RequestReport {
  return {
    ...bareReport(request.exchange, arrival),
    conversation: ready?.remembered.conversation ?? null,
    parent: ready?.remembered.parent ?? null,
    label: request.wishes.conversation,
    profile: request.profile.name,
    model: request.model,
    upstream: request.modelKey.upstream,
    isStreamed: request.chat.completion.stream,
    // On record, and followed by the next request, whatever becomes of this one.
    compactions: ready === null || sent === null ? [] : compactionsOf(ready, sent),
    ...(ready === null || sent === null ? {} : preparedFacts(request, ready, sent)),
  }
}

/** What is told of a request that was not read. */
export function bareReport(exchange: ClientRequest, arrival: Arrival): RequestReport {
  return {
    startedAtMs: arrival.atMs,
    conversation: null,
    parent: null,
    label: null,
    clientKey: exchange.clientKeyName,
    profile: null,
    model: '',
    upstream: exchange.upstreamName ?? 'default',
    traceparent: headerValue(exchange.incoming.rawHeaders, 'traceparent'),
    action: 'relayed',
    reason: null,
    isStreamed: false,
    status: null,
    refusal: null,
    attempts: 0,
    hasWaited: false,
    size: null,
    passes: [],
    summary: 'none',
    isBeyondWindow: null,
    observed: null,
    compactions: [],
    held: null,
    addedMs: 0,
    firstByteMs: null,
  }
}

// --- internal ---

/** What there is to tell of the form that was sent, or was to be. */
function preparedFacts(
  request: ChatRequest,
  { measure }: Ready,
  prepared: Prepared,
): Pick<RequestReport, 'size' | 'passes' | 'held'> {
  return {
    size: measure === null ? null : sizeOf(request, measure, prepared),
    passes: prepared.isRewritten ? (prepared.compacted?.view.passes ?? []) : [],
    // What was counted is not what is sent where the client's own bytes take the place of repaired ones.
    held: heldMessages(prepared, prepared.chat === request.chat ? (measure?.counted ?? null) : null),
  }
}

function sizeOf(request: ChatRequest, measure: Measure, prepared: Prepared): RequestSize {
  const { window, counted, rate, budgetTokens } = measure
  const isBound = counted === null
  return {
    receivedTokens: measure.incomingTokens,
    sentTokens: prepared.sentTokens,
    isBound,
    // A smaller view after a refusal was counted, whatever came before.
    isSentBound: isBound && prepared.compacted === null,
    receivedMessages: request.received.messages.length,
    sampledMessages: counted?.sampledMessages ?? 0,
    sentMessages: prepared.compacted?.view.messages.length ?? prepared.chat.messages.length,
    pressure: measure.pressure,
    sentPressure: isBound
      ? prepared.sentTokens / budgetTokens
      : expectedPromptTokens(measure, prepared) / rate.ratio / budgetTokens,
    windowTokens: window.tokens,
    windowSource: window.source,
    overruledTokens: window.overruledTokens,
    budgetTokens,
    ratio: rate.ratio,
    repeatedTokens: repeatedTokens(request, measure),
  }
}

function repeatedTokens({ chat }: ChatRequest, { counted }: Measure): number {
  const before = chat.structure.requestPoints.at(-2)
  if (counted === null || before === undefined) return 0
  let tokens = counted.aroundTokens
  for (let index = chat.structure.systemCount; index < before; index += 1)
    tokens += counted.subject.sizes[index] ?? 0
  return tokens
}

/** A compaction that was due, and the one that a refusal made necessary: each is told once. */
function compactionsOf(ready: Ready, sent: Prepared): readonly CompactionReport[] {
  const all = ready.prepared.made === sent.made ? [sent] : [ready.prepared, sent]
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
          summaries: ready.summaries,
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
