import type { ChatRequest, Measure, Prepared, Ready } from '../request.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import { knownWindow } from '../measure/measure.ts'
import { expectedPromptTokens } from '../measure/sent-prompt.ts'
import { windowQuestion } from '../measure/window-finder.ts'
import { noteRecallRefused } from '../../models/recall-refusals.ts'
import type { Windows } from '../../models/windows.ts'
import type { ServerWindows } from '../../models/discovery/server-windows.ts'
import { withReplaced } from './outgoing-body.ts'
import { measureRequest, rewriteRequest, whyUntouched, type Preparation } from '../prepare.ts'
import type { RequestBody } from '../../http/read-body.ts'
import { hasSchema } from '../../proxy/recall/recall-offer.ts'
import type { OfferOptions } from './with-recall.ts'
import type { RecoverOptions, RefusedForm } from './recover.ts'
import type { RestoreOptions } from './restore.ts'
import { asItCame } from '../rewrite.ts'
import type { SendOptions } from './send.ts'
import type { Flight, SharedPool } from './shared-pool.ts'
import type { UsageOptions } from './usage-in-streams.ts'
import { refusesUsage } from './usage-refusals.ts'
import type { CrowdOptions } from './wait-when-crowded.ts'

/** How this request is sent, judged, restored and recovered: what the wrappers around `sendOnce` need. */
export type Sending = {
  readonly once: SendOptions
  readonly crowd: CrowdOptions
  readonly usage: UsageOptions
  readonly recall: OfferOptions | null
  /** Whether a stream that ended with nothing is asked once more, for the refusal that it may hide. */
  readonly readsRefusals: boolean
  readonly restore: RestoreOptions
  readonly recover: RecoverOptions
  /** A form of at most so many of our tokens, where more is to follow it; null where there is none, or nothing may be compacted. */
  readonly fit: (prepared: Prepared, budgetTokens: number) => Promise<Prepared | null>
  /** The request's measure, with its count if it was counted meanwhile. */
  readonly measured: () => Measure | null
}

export type SendingParts = Preparation & {
  readonly upstreams: Upstreams
  readonly usageInStreams: UsageOptions['when']
  readonly windows: Pick<Windows, 'refused' | 'recovered' | 'isContradicted'>
  readonly serverWindows: Pick<ServerWindows, 'refresh'>
  /** Of an upstream by its name; null for the default one. */
  readonly poolOf: (upstream: string | null) => SharedPool
}

export function sendingOf(
  request: ChatRequest,
  body: RequestBody,
  ready: Ready,
  parts: SendingParts,
): Sending {
  const { chat, profile, exchange } = request
  const { failures, models, windows, rewriter } = parts
  const observes = profile.observe
  const { conversation } = ready.remembered
  let counting: Promise<Measure> | null = null
  let latest = ready.measure
  const pool = parts.poolOf(request.upstreamName)
  let flight: Flight | null = null

  /** The request counted, also where its size had not asked for it. */
  async function counted(): Promise<Measure> {
    if (ready.measure !== null && ready.measure.counted !== null) return ready.measure
    counting ??= measureRequest(request, parts, ready.remembered, true)
    latest = await counting
    return latest
  }

  const tighten: RecoverOptions['tighten'] = (refused, how) =>
    failures.around('recovery', null, async () => {
      const measure = await counted()
      if (measure.counted === null) return null
      const rewriting = rewriteRequest(request, parts, ready.remembered)
      const previous = refused.compacted?.compaction ?? ready.remembered.compaction
      return rewriter.tighten(rewriting, measure.counted, { ...how, previous, strict: rewriting.strict })
    })

  return {
    measured: () => latest,
    readsRefusals: !observes && profile.overflow.attempts > 0,

    once: {
      upstreams: parts.upstreams,
      upstreamName: request.upstreamName,
      exchange,
      raw: body.raw,
      judging: (prepared) => ({
        mayOverflow: !observes && mayOverflow(ready.measure, promptTokensOf(ready.measure, prepared)),
        mayBeCrowded: flight !== null && mayBeCrowded(ready.measure, flight.sharedTokens()),
        holdMs: profile.overflow.hold_ms,
        knownWindowTokens: knownWindow(ready.measure)?.tokens ?? null,
        expectedPromptTokens: latest?.counted == null ? null : promptTokensOf(latest, prepared),
      }),
    },

    crowd: {
      enter: (prepared) => {
        flight = pool.enter(promptTokensOf(ready.measure, prepared))
        return flight
      },
      turn: () => pool.turn(exchange.signal),
      isOn: !observes,
    },

    usage: {
      when: observes ? 'never' : parts.usageInStreams,
      mayAsk: () =>
        models.get(request.modelKey, 'usage') === null &&
        !refusesUsage(parts.upstreams.addressOf(request.upstreamName).origin),
      onRefused: (how) => models.set(request.modelKey, 'usage', how, 'refusal'),
    },

    fit: async (prepared, budgetTokens) => {
      if (profile.trigger === 'off' || whyUntouched(request, models) !== null) return null
      const smaller = await tighten(prepared, {
        budgetTokens,
        keepRecent: profile.keep.recent_messages,
        smallest: false,
        fills: false,
        refusedTokens: prepared.sentTokens,
      })
      if (smaller === null || smaller.sentTokens > budgetTokens) return null
      await record(smaller)
      return smaller
    },

    recall:
      request.recall === null
        ? null
        : {
            offer: request.recall,
            onRefused: () => noteRecallRefused(models, request.modelKey, hasSchema(chat)),
          },

    restore: {
      underStrictPlacement: (prepared) =>
        failures.around('compaction', null, async () => {
          if (profile.template !== 'auto' || prepared.strict || !prepared.isRewritten) return null
          const measure = await counted()
          if (measure.counted === null) return null
          const rewriting = rewriteRequest(request, parts, ready.remembered)
          const compaction = prepared.compacted?.compaction ?? null
          const placed = await rewriter.placeAnew(rewriting, measure.counted, true, compaction)
          // What was only repaired may have nothing to join.
          if (!placed.strict) return null
          const { clampedOutputTokens } = prepared
          return clampedOutputTokens === null ? placed : clamped(placed, clampedOutputTokens)
        }),
      asItCame: () => asItCame(request.received, ready.measure?.incomingTokens ?? chat.bytes.length),
      onWorked: (how, status) => {
        // A server's passing trouble also ends at the second try: only a refusal of the request itself teaches, and one
        // that speaks of the order of messages is that.
        if (how === 'strict' || status !== 500) models.set(request.modelKey, 'placement', how, 'refusal')
      },
    },

    recover: {
      profile: observes ? { ...profile, overflow: { ...profile.overflow, attempts: 0 } } : profile,
      outputLimitTokens: chat.completion.outputLimit?.tokens ?? null,
      budgetTokens: ready.measure?.budgetTokens ?? Number.MAX_SAFE_INTEGER,
      window: knownWindow(ready.measure),
      ratio: ready.measure?.rate.ratio ?? 1,
      countSent: async (prepared) => {
        if (prepared.compacted !== null) return prepared.sentTokens
        const measure = await failures.around('measure', null, counted)
        return measure?.incomingTokens ?? prepared.sentTokens
      },
      tighten,
      clamp: clamped,
      credible: (classification) => {
        const { window } = classification
        const isFalse = window !== null && windows.isContradicted(request.modelKey, window.tokens)
        return isFalse
          ? { ...classification, window: null, promptTokens: null, totalTokens: null }
          : classification
      },
      onRefused: ({ classification, prepared: refused, sentTokens }) => {
        // Where only original bytes worked, these were too long.
        if (models.get(request.modelKey, 'placement') === 'original')
          models.forget(request.modelKey, 'placement')
        const expectedTokens = promptTokensOf(ready.measure, refused, sentTokens)
        const outputTokens = chat.completion.outputLimit?.tokens ?? null
        // What is known already may be our own word, by which an answer was judged.
        if (classification.window?.tokens !== knownWindow(ready.measure)?.tokens)
          windows.refused(request.modelKey, conversation, { classification, expectedTokens, outputTokens })
        const stated = models.get(request.modelKey, 'stated')
        if (stated !== null && classification.window?.tokens !== stated.tokens)
          parts.serverWindows.refresh(windowQuestion(request))
      },
      // Without numbers a refusal says nothing of a size, unless a smaller form is accepted.
      onRecovered: async (refused, accepted) => {
        const unstated = refused.filter(isUnstated)
        const sizes = unstated.map(({ prepared, sentTokens }) =>
          promptTokensOf(ready.measure, prepared, sentTokens),
        )
        if (sizes.length > 0) windows.recovered(request.modelKey, conversation, Math.min(...sizes))
        await record(accepted)
      },
    },
  }

  /** Records the compaction of a smaller form, so that the next request goes on from it. */
  async function record({ compacted }: Prepared): Promise<void> {
    const compaction = compacted?.compaction ?? null
    if (compaction === null || compaction === ready.prepared.compacted?.compaction) return
    await parts.records.replace(rewriteRequest(request, parts, ready.remembered), compaction)
  }
}

// --- internal ---

/** An overflow that says nothing of its window; a server in trouble, or one that finds nothing, may mean something else. */
function isUnstated({ classification, status }: RefusedForm): boolean {
  const isRefusal = status === 200 || status === 400 || status === 422
  return isRefusal && classification.class === 'overflow' && classification.window === null
}

/** Below this share of the window an answer with status 200 is no overflow, unless the window is a guess. */
const HOLD_SHARE = 0.5

function mayOverflow(measure: Measure | null, promptTokens: number): boolean {
  if (measure === null || measure.window.source === 'default') return true
  return promptTokens > measure.window.tokens * HOLD_SHARE
}

/** Whether what is under way at once may have filled a memory that it shares. Hosted models have no such server. */
function mayBeCrowded(measure: Measure | null, sharedTokens: number): boolean {
  return measure?.window.source !== 'table' && mayOverflow(measure, sharedTokens)
}

/** The prompt in the provider's tokens, as far as is known. */
function promptTokensOf(
  measure: Measure | null,
  prepared: Prepared,
  ownTokens = prepared.sentTokens,
): number {
  return measure === null ? ownTokens : expectedPromptTokens(measure, prepared, ownTokens)
}

function clamped(prepared: Prepared, outputTokens: number): Prepared {
  const limit = prepared.chat.completion.outputLimit
  if (limit === null) return prepared
  const pieces = withReplaced(prepared.pieces, limit.value, String(outputTokens))
  return { ...prepared, pieces, clampedOutputTokens: outputTokens }
}
