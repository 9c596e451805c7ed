import type { Steps } from '../conversation/source.ts'
import { advance, type Advanced, type AdvanceOptions } from './advance.ts'
import { createLedger } from './ledger.ts'
import type { MadeCache } from './made-cache.ts'
import { planCompaction } from './plan/plan.ts'
import type { Policy, Room } from './policy.ts'
import type { Compaction } from './compaction.ts'
import type { ViewTools } from './view/standing-view.ts'
import type { Subject } from './subject.ts'
import { createTreatments } from './treatments.ts'
import { buildView, type View } from './view/view.ts'

export type CompactOptions = AdvanceOptions & { readonly policy: Policy }

/** A conversation as it is sent, and the compaction that it stands in; `compaction` null where nothing was done yet. */
export type Compacted = { readonly compaction: Compaction | null; readonly view: View }

/**
 * The compaction of a conversation for one request: the sentence of this folder.
 *
 * @internal exported for tests
 */
export function* compact(subject: Subject, cache: MadeCache, options: CompactOptions): Steps<Compacted> {
  const { compaction } = yield* compactionFor(subject, cache, options)
  return { compaction, view: yield* viewUnder(subject, cache, { ...options, compaction }) }
}

/** The compaction that a conversation stands in, one more if one is due. */
export function* compactionFor(subject: Subject, cache: MadeCache, options: CompactOptions): Steps<Advanced> {
  return yield* advance(subject, toolsFor(subject, options.policy, cache), options)
}

/** What is sent for a conversation that stands in this compaction. */
export function* viewUnder(
  subject: Subject,
  cache: MadeCache,
  { policy, compaction, strict }: Pick<CompactOptions, 'policy' | 'strict'> & Pick<Compacted, 'compaction'>,
): Steps<View> {
  return yield* buildView(subject, toolsFor(subject, policy, cache), { compaction, strict })
}

export type TightenOptions = {
  readonly policy: Policy
  /** The compaction of the view that was refused. */
  readonly previous: Compaction | null
  readonly room: Room
  readonly keepRecent: number
  readonly smallest: boolean
  readonly strict: boolean
}

/** A smaller view after the upstream refused one; null where nothing more can be taken away. */
export function* tighten(
  subject: Subject,
  cache: MadeCache,
  options: TightenOptions,
): Steps<Compacted | null> {
  const { policy } = options
  const { ledger } = toolsFor(subject, policy, cache)
  const compaction = yield* planCompaction(subject, ledger, policy, {
    point: subject.messages.length,
    previous: options.previous,
    room: options.room,
    reason: 'overflow',
    isBeyondBudget: true,
    keepRecent: options.keepRecent,
    smallest: options.smallest,
    strict: options.strict,
    prepared: null,
    plannedTokensMax: null,
    viewTokens: null,
  })
  if (compaction === null) return null
  return {
    compaction,
    view: yield* viewUnder(subject, cache, { policy, compaction, strict: options.strict }),
  }
}

// --- internal ---

function toolsFor(subject: Subject, policy: Policy, cache: MadeCache): ViewTools {
  const treatments = createTreatments(subject, policy, cache)
  return { policy, treatments, cache, ledger: createLedger(subject, policy, treatments) }
}
