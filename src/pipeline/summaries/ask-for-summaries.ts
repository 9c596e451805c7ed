import { type Advanced, type Compacted, correctedRoom } from '../../compaction/compact.ts'
import {
  type AheadOptions,
  foldAhead,
  type FoldAhead,
  mayNeedSummary,
  type WorthyRange,
} from '../../compaction/fold-ahead.ts'
import type {
  Compaction,
  CompactionReason,
  StandingSummary,
  PreparedFold,
} from '../../compaction/compaction.ts'
import { standingSummary, summaryNote } from '../../compaction/standing-summary.ts'
import { runInSlices } from '../../scheduling/drive.ts'
import { waitFor } from '../../upstream/cancellation.ts'
import {
  type FailureReason,
  type MissingReason,
  noOutlook,
  summaryKey,
  type SummaryOutlook,
  type SummaryRecord,
} from '../../summaries/summary-record.ts'
import { savesEnough } from '../../summaries/write-summary.ts'
import type { Chat, Counted, MeasuredRequest, ReadRequest } from '../request.ts'
import type { SummaryParts } from './open-summaries.ts'
import { orderSummary, summaryModelOf } from './order-summary.ts'
import type { MessageFacts } from '../../conversation/message.ts'
import { parseEntry } from '../../formats/entry-facts.ts'
import { hasSummaries } from '../../profiles/schema.ts'
import { isCompactionPrompt } from '../../summaries/clients-compaction-prompts.ts'

/** A request whose conversation was counted. */
export type SummaryRequest = {
  readonly request: MeasuredRequest
  readonly counted: Counted
  /** Whether its view is placed strictly. */
  readonly strict: boolean
}

/** The summaries for a compaction that is due. */
export type DueFold = {
  /** The fold with its summaries; null if there are none, and a recap takes their place. */
  readonly fold: PreparedFold | null
  /** Why some are not there although they were asked for. */
  readonly reason: MissingReason | null
  /** The keys of those that are there. */
  readonly keys: readonly string[]
}

export const noFold: DueFold = { fold: null, reason: null, keys: [] }

/**
 * The summaries for a compaction that is due: those that were asked for ahead of need, waited for within
 * `summary.wait_ms`. Rejects if the client leaves.
 */
export async function foldFor(wanted: SummaryRequest, due: Advanced, parts: SummaryParts): Promise<DueFold> {
  const { request, counted } = wanted
  const { previous, compaction } = due
  const mode = await summaryModeOf(request)
  // At first sight the compactions may lie in the past, where nothing is to be waited for.
  if (mode === null || compaction?.point !== request.chat.messages.length) return noFold
  const asked = await askedAhead(wanted, previous, parts)
  let { fold } = asked
  const mayAsk = mode === 'blocking' && parts.accepted.has(request.modelKey) && !isLimited(request, parts)
  if (!asked.isFurther && mayAsk) {
    const further = await planned(wanted, previous, compaction.reason, parts)
    if (further !== null) fold = await parts.ahead.keep(request, further)
  }
  if (fold === null) return noFold

  let found = await recordsOf(wanted, fold.ranges, parts)
  if (mode !== 'fitted' && found.some(({ record }) => record === null)) {
    const obtained = obtainAll(wanted, fold, { compaction: previous, sent: null }, parts)
    const waiting = waitFor(obtained, request.profile.summary.wait_ms, request.exchange.signal)
    await request.turn.aside(waiting)
    found = await recordsOf(wanted, fold.ranges, parts)
  }
  const reason = mode === 'fitted' ? null : whyMissing(found, isLimited(request, parts))
  const keys = found.flatMap(({ key, record }) => (record?.kind === 'written' ? [key] : []))
  if (keys.length === 0) return { fold: null, reason, keys }
  const { frontier, kept, systemTokensMax } = fold
  const noting = {
    namesMessages: request.profile.recall.enabled,
    file: parts.fileToName(request.remembered.conversation),
  }
  const summaries: StandingSummary[] = []
  for (const { range, record } of found) {
    if (record?.kind === 'written') {
      const note = summaryNote(range, request.chat.structure.systemCount, noting)
      const made = { written: record.text, systemTokensMax, note }
      summaries.push(await runInSlices(standingSummary(counted.history, range, made)))
    } else {
      // A range that is hardly longer than it was is not summarised anew: the summary of most of it stays.
      const standing = previous?.fold?.summaries ?? []
      summaries.push(...standing.filter(({ start, end }) => start >= range.start && end <= range.end))
    }
  }
  return { fold: { frontier, kept, summaries }, reason, keys }
}

/** How things stand with the summaries of the next compaction, and how to ask for those that are missing. */
export async function outlookOf(
  wanted: SummaryRequest,
  sent: Compacted | null,
  parts: SummaryParts,
): Promise<SummaryOutlook> {
  const { request, counted, strict } = wanted
  const compaction = sent?.compaction ?? null
  const mode = await summaryModeOf(request)
  if (mode === null) return noOutlook
  const options = aheadOptions(wanted, compaction, null)
  if (!(await runInSlices(mayNeedSummary(counted.history, parts.cache, options)))) return noOutlook
  const asked = await askedAhead(wanted, compaction, parts)
  const fold = asked.isFurther ? asked.fold : ((await planned(wanted, compaction, null, parts)) ?? asked.fold)
  if (fold === null) return noOutlook
  const found = (await recordsOf(wanted, fold.ranges, parts)).filter(({ isWorthwhile }) => isWorthwhile)
  if (found.length === 0) return noOutlook
  const failed = found.map(({ record }) => failureOf(record)).find((reason) => reason !== null) ?? null
  const missing = found.filter(({ record }) => record === null)
  if (missing.length === 0) return { state: failed === null ? 'ready' : 'none', reason: failed, begin: null }
  if (isLimited(request, parts)) return { state: 'none', reason: failed ?? 'rate-limited', begin: null }
  const isPending = missing.some(({ key }) => parts.writer.isPending(key))
  const ask = async (): Promise<void> => {
    const standing = fold === asked.fold ? fold : await parts.ahead.keep(request, fold)
    await obtainAll(wanted, standing, { compaction, sent: strict ? null : sent }, parts)
  }
  const begin = (): void => {
    if (isLimited(request, parts)) return
    // No request waits for it: its failure has to be heard here.
    ask().catch((error: unknown) => parts.failures.note('summary', error))
  }
  return {
    state: asked.fold === fold || isPending || mode === 'background' ? 'pending' : 'none',
    reason: failed,
    begin: mode === 'background' && !isPending ? begin : null,
  }
}

// --- internal ---

function isLimited(request: MeasuredRequest, { rateLimits }: SummaryParts): boolean {
  return rateLimits.isLimited(summaryModelOf(request))
}

/** The newest fold that summaries were asked for since a compaction, and whether it reaches further than that. */
async function askedAhead(
  { request }: SummaryRequest,
  compaction: Compaction | null,
  { ahead }: SummaryParts,
): Promise<{ readonly fold: FoldAhead | null; readonly isFurther: boolean }> {
  const { systemCount } = request.chat.structure
  const fold = await ahead.find(request, compaction?.point ?? systemCount)
  return { fold, isFurther: fold !== null && fold.frontier > (compaction?.fold?.frontier ?? systemCount) }
}

function planned(
  wanted: SummaryRequest,
  compaction: Compaction | null,
  due: CompactionReason | null,
  { cache }: SummaryParts,
): Promise<FoldAhead | null> {
  return runInSlices(foldAhead(wanted.counted.history, cache, aheadOptions(wanted, compaction, due)))
}

function aheadOptions(
  { request, counted, strict }: SummaryRequest,
  compaction: Compaction | null,
  due: CompactionReason | null,
): AheadOptions {
  const room = correctedRoom(counted.room, counted.compaction === compaction ? counted.differenceTokens : 0)
  return { profile: request.profile, compaction, room, strict, due }
}

/** A range of a fold with what is on record of its summary: null if nothing is. */
type Found = {
  readonly range: WorthyRange
  readonly key: string
  readonly record: SummaryRecord | null
  /** Whether a summary saves enough, with its cap as its size. */
  readonly isWorthwhile: boolean
}

async function recordsOf(
  { request, counted }: SummaryRequest,
  ranges: readonly WorthyRange[],
  { writer }: SummaryParts,
): Promise<readonly Found[]> {
  const { summary } = request.profile
  const found: Found[] = []
  for (const range of ranges) {
    const key = summaryKey(request, range, counted.history.digest)
    const record = (await writer.find([key]))?.record ?? null
    const isWorthwhile = savesEnough(range.replacedTokens, summary.max_tokens, summary)
    found.push({ range, key, record, isWorthwhile })
  }
  return found
}

/** Why not all of those that were wanted are there; null if they are. */
function whyMissing(found: readonly Found[], isRateLimited: boolean): MissingReason | null {
  const missing = found.find(({ record, isWorthwhile }) => isWorthwhile && record?.kind !== 'written')
  if (missing === undefined) return null
  return failureOf(missing.record) ?? (isRateLimited ? 'rate-limited' : 'not-in-time')
}

function failureOf(record: SummaryRecord | null): FailureReason | null {
  return record?.kind === 'failed' ? record.reason : null
}

/** Has every summary of a fold written that is worth it, one after the other: their cost is one account. */
async function obtainAll(
  wanted: SummaryRequest,
  fold: FoldAhead,
  from: { readonly compaction: Compaction | null; readonly sent: Compacted | null },
  parts: SummaryParts,
): Promise<void> {
  const { request, counted } = wanted
  const { chat, place, profile, remembered, arrival } = request
  const { upstream, model } = summaryModelOf(request)
  const expiredTokens = fold.ranges.reduce((sum, range) => sum + range.expiredTokens, 0)
  for (const range of fold.ranges) {
    if (!savesEnough(range.replacedTokens, profile.summary.max_tokens, profile.summary)) continue
    await parts.writer.obtain({
      key: summaryKey(request, range, counted.history.digest),
      conversation: remembered.conversation,
      model,
      upstream,
      wantedAtMs: arrival.monotonicMs,
      scope: place.scope,
      concurrent: profile.summary.concurrent,
      heldBytes: chat.bytes.length,
      mayBegin: () => !isLimited(request, parts),
      write: async (signal) => {
        const spendableTokens = await parts.spent.left(request, expiredTokens)
        const result = await orderSummary(
          { request, counted, ...from, range, spendableTokens },
          parts,
          signal,
        )
        const promptTokens = Math.max(result.promptTokens, result.sentTokens)
        await parts.spent.add(request, range.end, promptTokens)
        return result
      },
    })
  }
}

/**
 * How a request takes part in summaries. `background`: they are asked for ahead of need; `blocking`: when a compaction is
 * due, which waits; `fitted`: those that are there are used and none is asked for. Null: not even that.
 */
type SummaryMode = 'background' | 'blocking' | 'fitted' | null

async function summaryModeOf({ chat, profile, options, exchange }: ReadRequest): Promise<SummaryMode> {
  const { mode } = profile.summary
  if (options.compact === 'truncate' || mode === 'off') return null
  // A client with a key of Foldgate's own spends the operator's money: the operator says whether there are summaries.
  const isWished =
    options.compact === 'summarize' && (exchange.clientKeyName === null || hasSummaries(profile))
  if (!isWished && !hasSummaries(profile)) return null
  // The client summarises by itself: a summary of ours would be one of its question.
  if (await isOwnRequest(chat)) return 'fitted'
  if (isWished) return 'blocking'
  // No compaction comes that one could be asked for ahead of: recovery takes what stands, and recaps.
  return profile.trigger === 'off' && mode === 'background' ? 'fitted' : mode
}

/** By the facts of the latest user message, which is read once: it may be large, and stands for a whole turn. */
const asksForSummary = new WeakMap<MessageFacts, boolean>()

async function isOwnRequest({ messages, structure, source, dialect }: Chat): Promise<boolean> {
  const message = messages[structure.latestUserBefore(messages.length)]
  if (message === undefined) return false
  const known = asksForSummary.get(message.facts)
  if (known !== undefined) return known
  const asks = await runInSlices(isCompactionPrompt(parseEntry(dialect, source, message).text))
  asksForSummary.set(message.facts, asks)
  return asks
}
