import type {
  BegunRow,
  CompactionReport,
  PrefixCause,
  RequestReport,
  Treated,
} from '../../activity/request-report.ts'
import type { Compaction } from '../../compaction/compaction.ts'
import type { PassName } from '../../compaction/policy.ts'
import { keptTokens } from '../../subject/kept-passages.ts'
import { passRanges, type PassRange } from '../../compaction/report.ts'
import type { View } from '../../compaction/view/view.ts'
import { bareReport } from '../../http/bare-report.ts'
import type { SummaryOutlook } from '../../summaries/summary-record.ts'
import { promptTokensOf } from '../measure/sent-prompt.ts'
import type { AnsweredRequest, Chat, Counted, Form, PreparedRequest, ReadRequest } from '../request.ts'
import { isAnswered, isRecovered } from '../send/outcome.ts'

/** The report of a request whose answer is settled on. */
export function answeredReport(
  request: AnsweredRequest,
  outlook: SummaryOutlook,
  prefixCause: PrefixCause,
): RequestReport {
  const { outcome, observed, arrival } = request
  const { answer, attempts, remedy, form, classification, firstSentAtMs, firstByteMs } = outcome
  const { fallback = null } = outcome
  const answered = fallback?.answered ?? null
  const report = readReport(request, form, answered ?? request)
  const standIns = form.isRewritten ? form.compacted?.view.standIns : undefined
  const summary =
    (standIns?.summaries ?? 0) > 0 ? 'ready' : (standIns?.recaps ?? 0) > 0 ? 'recap' : outlook.state
  return {
    ...report,
    refusal: isAnswered(outcome) ? null : (classification?.class ?? null),
    hasWaited: remedy === 'waited',
    refusedThoughts: outcome.refusedThoughts ?? null,
    fallback:
      fallback === null
        ? null
        : {
            model: fallback.model,
            upstream: fallback.upstream,
            hasAnswered: answered !== null,
            refusedWith: fallback.refusedWith,
          },
    repairs: form.chat.repairs,
    missingSummary: outlook.reason,
    prefixCause,
    row: {
      ...report.row,
      ...whatWasDone(request),
      status: answer.status,
      attempts,
      summary,
      beyond_window: isBeyondWindow(request),
      observed_tokens_sent: observed?.sentTokens ?? null,
      observed_passes: [...(observed?.passes ?? [])],
      added_ms: Math.max(0, firstSentAtMs - arrival.monotonicMs),
      first_byte_ms: firstByteMs,
    },
  }
}

/**
 * The report of a request that was read, with or without an answer. `sent`: the form that was sent last. `answered`: the
 * request as it was answered, which says where it went and how that is counted.
 */
export function readReport(
  request: ReadRequest | PreparedRequest,
  sent?: Form,
  answered: ReadRequest | PreparedRequest = request,
): RequestReport {
  const bare = bareReport(request.exchange, request.arrival)
  const row: BegunRow = {
    ...bare.row,
    label: request.options.conversation,
    profile: request.profile.name,
    model: request.model,
    upstream: answered.modelKey.upstream,
    streamed: request.chat.body.isStreamed,
  }
  if (!('form' in request)) return { ...bare, row }
  const { measure, remembered } = request
  const countedBy = 'measure' in answered ? answered.measure : measure
  const form = sent ?? request.form
  // On record, and followed by the next request, whatever becomes of this one.
  const compactions = form.made === null && request.form.made === null ? [] : compactionsOf(request, form)
  return {
    ...bare,
    // A smaller view after a refusal was counted, whatever came before.
    isSentBound: countedBy?.counted === null && form.compacted === null,
    sampledMessages: countedBy?.counted?.sampledMessages ?? 0,
    ratio: countedBy?.rate.ratio ?? 1,
    keptLeftOut: countedBy?.counted == null ? 0 : keptLeftOut(form, countedBy.counted),
    resolved: form.compacted === null ? 0 : newlyResolved(form.compacted.view, request.chat),
    repeatedTokens: countedBy?.counted == null ? 0 : repeatedTokens(request.chat, countedBy.counted),
    compactions,
    row: {
      ...row,
      conversation: remembered.conversation,
      parent: remembered.parent,
      passes: form.isRewritten ? [...(form.compacted?.view.passes ?? [])] : [],
      compaction: compactions.at(-1)?.reason ?? null,
      ...(measure !== null && {
        window_tokens: measure.window.tokens,
        window_source: measure.window.source,
        overruled_tokens: measure.window.overruledTokens,
        budget_tokens: measure.budgetTokens,
        pressure: measure.pressure,
      }),
      ...(countedBy !== null && {
        messages_received: request.received.messages.length,
        messages_sent: form.compacted?.view.messages.length ?? form.chat.messages.length,
        tokens_received: countedBy.incomingTokens,
        tokens_sent: form.sentTokens,
        tokens_are_bounds: countedBy.counted === null,
        sent_pressure:
          (countedBy.counted === null
            ? form.sentTokens
            : promptTokensOf(countedBy, form) / countedBy.rate.ratio) / countedBy.budgetTokens,
      }),
    },
  }
}

// --- internal ---

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
function keptLeftOut({ compacted }: Form, { subject }: Counted): number {
  const fold = compacted?.compaction?.fold ?? null
  return fold === null ? 0 : Math.max(0, keptTokens(subject, fold.frontier) - fold.keptTokensMax)
}

/** Results of the newest round that were sent with the earlier text that they refer to. */
function newlyResolved({ messages }: View, { structure }: Chat): number {
  const from = structure.newestRoundStart(structure.messageCount)
  return messages.filter(({ how, index }) => how === 'resolved' && (index ?? -1) >= from).length
}

function repeatedTokens({ structure }: Chat, counted: Counted): number {
  const before = structure.requestPoints.at(-2)
  if (before === undefined) return 0
  let tokens = counted.aroundTokens
  for (let index = structure.systemCount; index < before; index += 1)
    tokens += counted.subject.sizes[index] ?? 0
  return tokens
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

/** What a view made of the messages, in numbers. A view is short: of what is folded it has what stands for it. */
function treatedIn({ messages }: View): Treated {
  const counts: Record<string, number> = {}
  const add = (name: string, count: number): void => {
    counts[name] = (counts[name] ?? 0) + count
  }
  for (const message of messages) {
    for (const part of message.joined.length === 0 ? [message] : message.joined) {
      const { how, standsFor, tokens } = part
      if (standsFor !== null && (how === 'summary' || how === 'recap')) {
        add('folded', standsFor.end - standsFor.start - standsFor.except.length)
        add(`${how}_tokens`, tokens)
      } else if (how !== 'kept') add(how, 1)
    }
  }
  const lastChanged = messages.findLastIndex(({ how, joined }) => how !== 'kept' || joined.length > 0)
  return { ...counts, newest_kept: messages.length - 1 - lastChanged }
}
