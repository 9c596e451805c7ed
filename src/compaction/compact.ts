import type { Steps } from '../conversation/source.ts'
import { advance, type Advanced, type AdvanceOptions } from './advance.ts'
import { createLedger } from './ledger.ts'
import type { MadeCache } from './made-cache.ts'
import { planStride } from './plan/plan.ts'
import type { Policy, Room } from './policy.ts'
import type { Stride } from './stride.ts'
import type { ViewTools } from './view/standing-view.ts'
import type { Subject } from './subject.ts'
import { createTreatments } from './treatments.ts'
import { buildView, type View } from './view/view.ts'

export type CompactOptions = AdvanceOptions & { readonly policy: Policy }

/** A conversation as it is sent, and the stride that it stands in; `stride` null where nothing was done yet. */
export type Compacted = { readonly stride: Stride | null; readonly view: View }

/** The compaction of a conversation for one request: the sentence of this folder. */
export function* compact(subject: Subject, cache: MadeCache, options: CompactOptions): Steps<Compacted> {
  const { stride } = yield* strideFor(subject, cache, options)
  return { stride, view: yield* viewUnder(subject, cache, { ...options, stride }) }
}

/** The stride that a conversation stands in, one more if one is due. */
export function* strideFor(subject: Subject, cache: MadeCache, options: CompactOptions): Steps<Advanced> {
  return yield* advance(subject, toolsFor(subject, options.policy, cache), options)
}

/** What is sent for a conversation that stands in this stride. */
export function* viewUnder(
  subject: Subject,
  cache: MadeCache,
  { policy, stride, strict }: Pick<CompactOptions, 'policy' | 'strict'> & Pick<Compacted, 'stride'>,
): Steps<View> {
  return yield* buildView(subject, toolsFor(subject, policy, cache), { stride, strict })
}

export type TightenOptions = {
  readonly policy: Policy
  /** The stride of the view that was refused. */
  readonly previous: Stride | null
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
  const stride = yield* planStride(subject, ledger, policy, {
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
  if (stride === null) return null
  return { stride, view: yield* viewUnder(subject, cache, { policy, stride, strict: options.strict }) }
}

// --- internal ---

function toolsFor(subject: Subject, policy: Policy, cache: MadeCache): ViewTools {
  const treatments = createTreatments(subject, policy, cache)
  return { policy, treatments, cache, ledger: createLedger(subject, policy, treatments) }
}
