import type { BegunRow } from '../../telemetry/journal/rows.ts'
import type { CompactionReport, PrefixCause, RequestReport, Treated } from '../../telemetry/request-report.ts'
import type { Compaction } from '../../compaction/compaction.ts'
import type { PassName } from '../../compaction/passes/passes.ts'
import { sumOf } from '../../conversation/sizes.ts'
import { keptTokens } from '../../compaction/history/kept-passages.ts'
import { passRanges, type PassRange } from '../../compaction/outline.ts'
import type { View } from '../../compaction/view/view.ts'
import { clientOf } from '../bare-report.ts'
import { noOutlook, type SummaryOutlook } from '../../summaries/summary-record.ts'
import { headerValue } from '../../upstream/credential.ts'
import { ownTokensOf, promptTokensOf } from '../measure/sent-prompt.ts'
import type { AnsweredRequest, Chat, Counted, Form, PreparedRequest, ReadRequest } from '../request.ts'
import { isAnswered, isRecovered } from '../send/outcome.ts'

/**
 * The report of a request that was read. `outlook` and `prefixCause` are those of one whose answer is settled on; of any other
 * only what was known is told. All rows of such requests are made here, as objects of one shape: engines copy no other
 * of this size quickly.
 */
export function readReport(
  request: ReadRequest | PreparedRequest | AnsweredRequest,
  outlook: SummaryOutlook = noOutlook,
  prefixCause: PrefixCause = 'client',
): RequestReport {
  const { exchange, arrival, chat } = request
  const prepared = 'form' in request ? request : null
  const answered = 'outcome' in request ? request : null
  const outcome = answered?.outcome ?? null
  const fallback = outcome?.fallback ?? null
  // As it was answered: that says where it went and how that is counted.
  const served = fallback?.answered ?? prepared
  const countedBy = served?.measure ?? null
  const counted = countedBy?.counted ?? null
  const window = prepared?.measure?.window ?? null
  const form = outcome?.form ?? prepared?.form ?? null
  const view = form?.compacted?.view ?? null
  const sentTokens = form === null ? null : ownTokensOf(countedBy, form)
  // On record, and followed by the next request, whatever becomes of this one.
  const isNew = form !== null && (form.made ?? prepared?.form.made ?? null) !== null
  const compactions = isNew && prepared !== null ? compactionsOf(prepared, form) : []
  const standIns = outcome?.form.isRewritten === true ? view?.standIns : undefined
  const { action, reason } = answered === null ? notAnswered : whatWasDone(answered)
  return {
    arrivedMs: arrival.monotonicMs,
    traceparent: headerValue(exchange.rawHeaders, 'traceparent'),
    refusal: outcome === null || isAnswered(outcome) ? null : (outcome.classification?.class ?? null),
    hasWaited: outcome?.remedy === 'waited',
    refusedThoughts: outcome?.refusedThoughts ?? null,
    fallback: fallback && {
      model: fallback.model,
      upstream: fallback.upstream,
      hasAnswered: fallback.answered !== null,
      refusedWith: fallback.refusedWith,
    },
    // A smaller view after a refusal was counted, whatever came before.
    isSentBound: countedBy?.counted === null && view === null,
    sampledMessages: counted?.sampledMessages ?? 0,
    keptLeftOut: form === null || counted === null ? 0 : keptLeftOut(form, counted),
    resolved: view === null ? 0 : newlyResolved(view, chat),
    ratio: countedBy?.rate.ratio ?? 1,
    repeatedTokens: counted === null ? 0 : repeatedTokens(chat, counted),
    compactions,
    repairs: outcome?.form.chat.repairs ?? null,
    prefixCause,
    missingSummary: outlook.reason,
    row: {
      time: arrival.time,
      conversation: prepared?.remembered.conversation ?? null,
      parent: prepared?.remembered.parent ?? null,
      label: request.options.conversation,
      client_key: exchange.clientKeyName,
      client: clientOf(exchange),
      dialect: request.dialect.name,
      profile: request.profile.name,
      model: request.model,
      upstream: (served ?? request).modelKey.upstream,
      action,
      reason,
      status: outcome?.answer.status ?? null,
      outcome: 'finished',
      streamed: chat.body.isStreamed,
      attempts: answered?.sending.attempts ?? 0,
      window_tokens: window?.tokens ?? null,
      window_source: window?.source ?? null,
      overruled_tokens: window?.overruledTokens ?? null,
      budget_tokens: prepared?.measure?.budgetTokens ?? null,
      messages_received: countedBy === null ? null : request.received.messages.length,
      messages_sent: countedBy === null ? null : (view ?? form?.chat ?? chat).messages.length,
      tokens_received: countedBy?.incomingTokens ?? null,
      tokens_sent: countedBy === null ? null : sentTokens,
      tokens_are_bounds: countedBy?.counted === null,
      pressure: prepared?.measure?.pressure ?? null,
      sent_pressure:
        countedBy === null || form === null || sentTokens === null
          ? null
          : (counted === null ? sentTokens : promptTokensOf(countedBy, form) / countedBy.rate.ratio) /
            countedBy.budgetTokens,
      passes: form?.isRewritten === true ? [...(view?.passes ?? [])] : [],
      summary:
        (standIns?.summaries ?? 0) > 0 ? 'ready' : (standIns?.recaps ?? 0) > 0 ? 'recap' : outlook.state,
      compaction: compactions.at(-1)?.reason ?? null,
      beyond_window: answered === null ? null : isBeyondWindow(answered),
      observed_tokens_sent: answered?.observed?.sentTokens ?? null,
      observed_passes: [...(answered?.observed?.passes ?? [])],
      added_ms: answered === null ? 0 : Math.max(0, answered.sending.firstSentAtMs - arrival.monotonicMs),
      first_byte_ms: outcome?.firstByteMs ?? null,
    },
  }
}

// --- internal ---

const notAnswered = { action: 'relayed', reason: null } as const

/** A reason is told if it helps. */
function whatWasDone({
  outcome,
  failedOpen,
  whyUntouched,
  blanksBilling,
}: AnsweredRequest): Pick<BegunRow, 'action' | 'reason'> {
  const { isRewritten, chat, compacted, strict, clampedOutputTokens } = outcome.form
  const byFallback = (outcome.fallback?.answered ?? null) === null ? null : 'fallback'
  if (isRecovered(outcome)) return { action: 'recovered', reason: byFallback }
  if (outcome.remedy === 'restored' && isAnswered(outcome)) {
    if (outcome.refusedThoughts !== undefined) return { action: 'restored', reason: 'thoughts' }
    return { action: 'restored', reason: strict ? 'strict' : 'original' }
  }
  if (failedOpen !== null) return { action: 'failed-open', reason: failedOpen }
  if (!isRewritten) {
    const isBlanked = blanksBilling && chat.body.billingLine !== null
    const edit = clampedOutputTokens !== null ? 'output-limit' : isBlanked ? 'billing-line' : null
    return { action: 'relayed', reason: whyUntouched ?? edit }
  }
  const isOnlyRepaired = chat.repairs !== null && (compacted?.view.passes ?? []).length === 0
  if (isOnlyRepaired) return { action: 'compacted', reason: 'repair' }
  const isOnlyUnbound = compacted?.compaction?.reason === 'thoughts' && compacted.view.passes.length === 0
  return { action: 'compacted', reason: isOnlyUnbound ? 'thoughts' : null }
}

/**
 * Whether a request would have been refused as it came: it was, in whole or even in part, or its prompt and the output
 * that it asks for exceed the window together. Null if only a guess could tell.
 */
function isBeyondWindow({ measure, outcome, chat }: AnsweredRequest): boolean | null {
  if (outcome.remedy === 'recovered' || outcome.verdict === 'overflow') return true
  if (!outcome.form.isRewritten || outcome.form.compacted === null) {
    // It was sent as it came: the answer tells.
    return isAnswered(outcome) ? false : null
  }
  if (measure === null || measure.window.source === 'default') return null
  const { tokens, kind } = measure.window
  const promptTokens = measure.pressure * measure.budgetTokens * measure.rate.ratio
  const outputTokens = kind === 'total' ? (chat.body.outputLimit?.tokens ?? 0) : 0
  return promptTokens + outputTokens > tokens
}

/** What of the passages that are to be kept found no room, in tokens. */
function keptLeftOut({ compacted }: Form, { history }: Counted): number {
  const fold = compacted?.compaction?.fold ?? null
  return fold === null ? 0 : Math.max(0, keptTokens(history, fold.frontier) - fold.keptTokensMax)
}

/** Results of the newest round that were sent with the earlier text that they refer to. */
function newlyResolved({ messages }: View, chat: Chat): number {
  const from = chat.structure.newestRoundStart(chat.messages.length)
  return messages.filter(({ how, index }) => how === 'resolved' && (index ?? -1) >= from).length
}

function repeatedTokens({ structure }: Chat, counted: Counted): number {
  const before = structure.requestPoints.at(-2)
  if (before === undefined) return 0
  return counted.aroundTokens + sumOf(counted.history.sizes, structure.systemCount, before)
}

/** A compaction that was due, and the one that a refusal made necessary: each is told once. */
function compactionsOf(request: PreparedRequest, sent: Form): readonly CompactionReport[] {
  const forms = request.form.made === sent.made ? [sent] : [request.form, sent]
  const reports: CompactionReport[] = []
  for (const { made, compacted, sentTokens, chat } of forms) {
    if (made === null) continue
    const { compaction } = made
    const passes = compacted?.view.passes ?? []
    reports.push({
      reason: compaction.reason,
      point: compaction.point,
      passes,
      ranges: treatedRanges(compaction, passes, chat.structure.systemCount),
      isDerived: compaction.point < chat.messages.length,
      tokensBefore: made.tokensBefore,
      tokensAfter: sentTokens,
      summaries: request.summaries,
      treated: compacted === null ? {} : treatedIn(compacted.view),
      milliseconds: made.milliseconds,
    })
  }
  return reports
}

/** Where each pass treated something that is sent: what was folded is not. */
function treatedRanges(
  compaction: Compaction,
  passes: readonly PassName[],
  systemCount: number,
): readonly PassRange[] {
  const tail = compaction.fold?.frontier ?? systemCount
  return passRanges(compaction, systemCount).flatMap(({ pass, start, end }) => {
    if (!passes.includes(pass)) return []
    const from = pass === 'fold' ? start : Math.max(start, tail)
    return [{ pass, start: from < end ? from : start, end }]
  })
}

/** What a view made of the messages, in numbers. A view is short, however long the conversation: its outline is not made here. */
function treatedIn({ messages }: View): Treated {
  const counts: Record<string, number> = {}
  const add = (name: string, count: number): void => {
    counts[name] = (counts[name] ?? 0) + count
  }
  const sent = new Set(messages.flatMap(({ index, joined }) => [index, ...joined.map((part) => part.index)]))
  let foldedUntil = 0
  for (const message of messages) {
    for (const { how, standsFor, tokens } of message.joined.length === 0 ? [message] : message.joined) {
      if (standsFor !== null && (how === 'summary' || how === 'recap')) {
        add(`${how}_tokens`, tokens)
        const start = Math.max(standsFor.start, foldedUntil)
        foldedUntil = Math.max(foldedUntil, standsFor.end)
        let folded = Math.max(0, standsFor.end - start)
        for (const index of sent) if (index !== null && index >= start && index < standsFor.end) folded -= 1
        add('folded', folded)
      } else if (how !== 'kept') add(how, 1)
    }
  }
  const lastChanged = messages.findLastIndex(({ how, joined }) => how !== 'kept' || joined.length > 0)
  return { ...counts, newest_kept: messages.length - 1 - lastChanged }
}
