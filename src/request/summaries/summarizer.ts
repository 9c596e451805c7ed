import type { ReadRequest, Counted, Measure } from '../request.ts'
import type { AcceptedCredentials } from '../../models/accepted-credentials.ts'
import {
  foldAhead,
  mayNeedSummary,
  type AheadOptions,
  type FoldAhead,
  type WorthyRange,
} from '../../compaction/ahead.ts'
import { lastingRoom, type Advanced } from '../../compaction/advance.ts'
import type { Compacted } from '../../compaction/compact.ts'
import type { MadeCache } from '../../compaction/made-cache.ts'
import type { PreparedFold } from '../../compaction/plan/options.ts'
import type { StandingSummary, Compaction, CompactionReason } from '../../compaction/compaction.ts'
import { standingSummary } from '../../compaction/summary-message.ts'
import { summaryNote } from '../../compaction/summary-note.ts'
import type { SummaryWriter } from '../../summaries/summary-writer.ts'
import type { FailureReason } from '../../summaries/failure.ts'
import { noOutlook, type MissingReason, type SummaryOutlook } from '../../summaries/outlook.ts'
import { savesEnough } from '../../summaries/savings.ts'
import type { SummaryRecord } from '../../summaries/summary-record.ts'
import { digest } from '../read/body-source.ts'
import { drive } from '../../scheduling/drive.ts'
import type { Failures } from '../../activity/failures.ts'
import type { AheadRecords } from '../../summaries/ahead-records.ts'
import type { SpentTokens } from '../../summaries/spent-tokens.ts'
import { summarizingOf, type Summarizing } from './summarizing.ts'
import { summaryKey } from '../../summaries/summary-keys.ts'
import { waitFor } from '../../scheduling/wait-for.ts'
import { orderSummary, summaryModelKey, type SummaryOrderParts } from './summary-orders.ts'

/** A request whose conversation was counted, with what is known of it. */
export type SummaryRequest = {
  readonly request: ReadRequest
  readonly measure: Measure
  readonly counted: Counted
  /** The conversation's id. */
  readonly conversation: string
  /** When it was looked up, as `performance.now()` told then. */
  readonly lookedUpAtMs: number
  readonly strict: boolean
}

/** What there is for a compaction that is due. */
export type DueFold = {
  /** The fold with its summaries; null where there are none, and a recap takes their place. */
  readonly fold: PreparedFold | null
  /** Why some are not there although they were asked for. */
  readonly reason: MissingReason | null
  /** What those that are there are found under. */
  readonly keys: readonly string[]
}

/** The summaries of requests: whether one is there for a compaction that is due, and which will be needed next. */
export type Summarizer = {
  /**
   * The summaries for a compaction that is due: those that were asked for ahead of need, waited for within
   * `summary.wait_ms`. Rejects where the client leaves.
   */
  readonly foldFor: (wanted: SummaryRequest, due: Advanced) => Promise<DueFold>
  /** What is to be asked for ahead of need, by what is sent. */
  readonly outlook: (wanted: SummaryRequest, sent: Compacted | null) => Promise<SummaryOutlook>
}

export type SummarizerParts = SummaryOrderParts & {
  readonly accepted: Pick<AcceptedCredentials, 'has'>
  readonly writer: SummaryWriter
  readonly ahead: AheadRecords
  readonly spent: SpentTokens
  readonly cache: MadeCache
  readonly failures: Failures
  /** The file of a conversation that its summaries name; null where they name none. */
  readonly fileToName: (conversation: string) => string | null
}

export const noFold: DueFold = { fold: null, reason: null, keys: [] }

export function createSummarizer(parts: SummarizerParts): Summarizer {
  const { writer, ahead, cache, accepted } = parts

  function isLimited({ request }: Pick<SummaryRequest, 'request'>): boolean {
    return parts.rateLimits.isLimited(summaryModelKey(request))
  }

  function mayAsk(wanted: SummaryRequest): boolean {
    return accepted.has(wanted.request.modelKey) && !isLimited(wanted)
  }

  async function planned(
    wanted: SummaryRequest,
    compaction: Compaction | null,
    due: CompactionReason | null,
  ): Promise<FoldAhead | null> {
    return drive(foldAhead(wanted.counted.subject, cache, aheadOptions(wanted, compaction, due)))
  }

  /** What is on record of the ranges of a fold; null for those of which nothing is. */
  async function recordsOf(request: ReadRequest, ranges: readonly WorthyRange[]): Promise<Found[]> {
    const found: Found[] = []
    for (const range of ranges) {
      const key = keyOf(request, range)
      found.push({ range, key, record: (await writer.find([key]))?.record ?? null })
    }
    return found
  }

  /** Has every range written that is not, one after the other: what they may cost is one account. */
  async function obtainAll(
    wanted: SummaryRequest,
    { compaction, sent }: { readonly compaction: Compaction | null; readonly sent: Compacted | null },
    fold: FoldAhead,
  ): Promise<void> {
    const { request, conversation } = wanted
    const account = { chat: request.chat, scope: request.place.scope }
    const expiredTokens = fold.ranges.reduce((sum, range) => sum + range.expiredTokens, 0)
    for (const range of fold.ranges) {
      if (!isWorthwhile(request, range)) continue
      await writer.obtain({
        key: keyOf(request, range),
        group: conversation,
        model: summaryModelKey(request).model,
        upstream: summaryModelKey(request).upstream,
        wantedAtMs: wanted.lookedUpAtMs,
        scope: request.place.scope,
        concurrent: request.profile.summary.concurrent,
        heldBytes: request.chat.bytes.length,
        mayBegin: () => !isLimited(wanted),
        write: async (signal) => {
          const spendableTokens = await parts.spent.left(account, expiredTokens)
          const written = await orderSummary(
            { ...wanted, compaction, sent, range, spendableTokens },
            parts,
            signal,
          )
          const promptTokens = Math.max(written.promptTokens, written.sentTokens)
          await parts.spent.add(account, { end: range.end, promptTokens, conversation })
          return written
        },
      })
    }
  }

  return {
    foldFor: async (wanted, due) => {
      const how = await summarizingOf(wanted.request)
      const { request, counted } = wanted
      // At first sight the compactions may lie in the past, where nothing is to be waited for.
      if (how === null || due.compaction?.point !== request.chat.messages.length) return noFold
      const { previous } = due
      const fold = await foldAsked(wanted, due, how)
      if (fold === null) return noFold
      let ready = await recordsOf(request, fold.ranges)
      if (how !== 'fitted' && ready.some(({ record }) => record === null)) {
        const obtained = obtainAll(wanted, { compaction: previous, sent: null }, fold)
        const { wait_ms: waitMs } = request.profile.summary
        await request.turn.aside(waitFor(obtained, waitMs, request.exchange.signal))
        ready = await recordsOf(request, fold.ranges)
      }
      const wantedOnes = ready.filter(({ range }) => isWorthwhile(request, range))
      const reason = how === 'fitted' ? null : reasonIn(wantedOnes, isLimited(wanted))
      const written = ready.filter(({ record }) => record?.kind === 'written')
      if (written.length === 0) return { fold: null, reason, keys: [] }
      const { systemTokensMax } = fold
      const noting = {
        namesMessages: request.profile.recall.enabled,
        file: parts.fileToName(wanted.conversation),
      }
      const summaries: StandingSummary[] = []
      for (const { range, record } of ready) {
        if (record?.kind === 'written') {
          const note = summaryNote(range, request.chat.structure.systemCount, noting)
          const standing = { written: record.text, systemTokensMax, note }
          summaries.push(await drive(standingSummary(counted.subject, range, standing)))
          continue
        }
        // What is hardly longer than it was is not summarised anew: what stands for most of it stays.
        const standing = previous?.fold?.summaries ?? []
        summaries.push(...standing.filter(({ start, end }) => start >= range.start && end <= range.end))
      }
      const keys = written.map(({ key }) => key)
      return { fold: { frontier: fold.frontier, kept: fold.kept, summaries }, reason, keys }
    },

    outlook: async (wanted, sent) => {
      const compaction = sent?.compaction ?? null
      const { request, conversation } = wanted
      const how = await summarizingOf(request)
      if (how === null) return noOutlook
      const { subject } = wanted.counted
      const mayNeed = await drive(mayNeedSummary(subject, cache, aheadOptions(wanted, compaction, null)))
      if (!mayNeed) return noOutlook
      const { chat, place } = request
      const { systemCount } = chat.structure
      const asked = await ahead.find(chat, place, compaction?.point ?? systemCount, conversation)
      const isFurther = asked !== null && asked.frontier > (compaction?.fold?.frontier ?? systemCount)
      const fold = isFurther ? asked : ((await planned(wanted, compaction, null)) ?? asked)
      if (fold === null) return noOutlook
      const found = (await recordsOf(request, fold.ranges)).filter(({ range }) =>
        isWorthwhile(request, range),
      )
      if (found.length === 0) return noOutlook
      const missing = found.filter(({ record }) => record === null)
      const isHeldBack = missing.length > 0 && isLimited(wanted)
      const failed = found.map(({ record }) => failureOf(record)).find((reason) => reason !== null) ?? null
      const reason = failed ?? (isHeldBack ? 'rate-limited' : null)
      if (missing.length === 0) return { state: reason === null ? 'ready' : 'none', reason, begin: null }
      if (isHeldBack) return { state: 'none', reason, begin: null }
      const isAsked = missing.some(({ key }) => writer.isPending(key))
      const begin = (): void => {
        if (isLimited(wanted)) return
        const work = async (): Promise<void> => {
          const standing = fold === asked ? fold : await ahead.keep(chat, place, fold, conversation)
          await obtainAll(wanted, { compaction, sent: wanted.strict ? null : sent }, standing)
        }
        // No request waits for it: whatever it ends in has to be heard here.
        work().catch((error: unknown) => parts.failures.note('summary', error))
      }
      const mayBegin = how === 'background' && !isAsked
      return {
        state: asked === fold || isAsked || how === 'background' ? 'pending' : 'none',
        reason,
        begin: mayBegin ? begin : null,
      }
    },
  }

  /** The fold that summaries were asked for, or, where a request may wait for them, are asked for now. */
  async function foldAsked(
    wanted: SummaryRequest,
    { previous, compaction }: Advanced,
    how: Exclude<Summarizing, null>,
  ): Promise<FoldAhead | null> {
    const { request, conversation } = wanted
    const { chat, place } = request
    const { systemCount } = chat.structure
    const asked = await ahead.find(chat, place, previous?.point ?? systemCount, conversation)
    const isFurther = asked !== null && asked.frontier > (previous?.fold?.frontier ?? systemCount)
    if (isFurther || how !== 'blocking' || compaction === null || !mayAsk(wanted)) return asked
    const fold = await planned(wanted, previous, compaction.reason)
    return fold === null ? asked : ahead.keep(chat, place, fold, conversation)
  }
}

// --- internal ---

function aheadOptions(
  { request, counted, strict }: SummaryRequest,
  compaction: Compaction | null,
  due: CompactionReason | null,
): AheadOptions {
  const room = lastingRoom(counted.room, counted.compaction === compaction ? counted.differenceTokens : 0)
  return { policy: request.profile, compaction, room, strict, due }
}

function keyOf({ chat, place, profile }: ReadRequest, range: WorthyRange): string {
  return summaryKey(chat, place.scope, profile.summary, range, digest)
}

type Found = {
  readonly range: WorthyRange
  readonly key: string
  readonly record: SummaryRecord | null
}

/** Whether a summary saves enough, with its cap as its size. */
function isWorthwhile({ profile }: ReadRequest, { replacedTokens }: WorthyRange): boolean {
  return savesEnough(replacedTokens, profile.summary.max_tokens, profile.summary)
}

/** Why not all of them are there; null where they are. */
function reasonIn(found: readonly Found[], isRateLimited: boolean): MissingReason | null {
  for (const { record } of found) {
    if (record === null) return isRateLimited ? 'rate-limited' : 'not-in-time'
    if (record.kind === 'failed') return record.reason
  }
  return null
}

function failureOf(record: SummaryRecord | null): FailureReason | null {
  return record?.kind === 'failed' ? record.reason : null
}
