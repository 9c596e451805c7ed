import type { Steps } from '../../conversation/source.ts'
import { carriedView, carryView, type CarriedView } from './carried.ts'
import { clipsByIndex, layoutOf, RECAP_FRAME_TOKENS, UNTOUCHED, type FoldedPart } from '../layout.ts'
import type { Ledger } from '../ledger.ts'
import type { MadeCache, MadeHow } from '../made-cache.ts'
import type { PassName, Policy } from '../policy.ts'
import { recapOf, type Beside } from '../recap/recap.ts'
import type { Compaction, SummaryRange } from '../compaction.ts'
import type { Subject } from '../subject.ts'
import { summaryText } from '../summary-message.ts'
import type { Treatments } from '../treatments.ts'
import type { ViewMessage } from './view-message.ts'

/** What views are made with. */
export type ViewTools = {
  readonly policy: Policy
  readonly ledger: Ledger
  readonly treatments: Treatments
  readonly cache: MadeCache
}

/**
 * What is sent of a conversation between the leading system block and the point of the compaction that it stands in. Found
 * again for the next request that goes on from this one.
 */
export function* standingView(
  subject: Subject,
  { policy, ledger, treatments, cache }: ViewTools,
  compaction: Compaction,
): Steps<CarriedView> {
  const areNamed = policy.recall.enabled
  const carried = carriedView(subject, policy, compaction)
  if (carried !== null) return carried
  const layout = layoutOf(compaction, subject.structure.systemCount)
  const clips = clipsByIndex(compaction.clips)
  const messages: ViewMessage[] = []
  const passes = new Set<PassName>()
  const standIns = { summaries: 0, recaps: 0 }

  if (layout.task !== null) yield* add([layout.task])
  yield* add(layout.kept)
  const pinned = [layout.task, ...layout.kept, layout.latestUser].filter((index) => index !== null)
  // A name that stands only in what was cleared or shortened is not there to be read.
  const isWhole = (index: number): boolean => {
    const { kind } = ledger.treatment(index, compaction.reach, clips)
    return kind === 'kept' || kind === 'rendered'
  }
  const tail = range(layout.tail, compaction.point)
  const beside: Beside = {
    visible: [...pinned, ...tail.filter(isWhole)],
    shortened: tail.filter((index) => !isWhole(index)),
    said: [],
  }
  yield
  // A recap before the latest user message leaves out only what is pinned: so it stays the same, and in the
  // provider's cache, while further compactions of the same turn move the tail.
  yield* addStandIns(
    layout.before,
    layout.latestUser === null ? beside : { visible: pinned, shortened: [], said: [] },
  )
  if (layout.latestUser !== null) yield* add([layout.latestUser])
  yield* addStandIns(layout.after, beside)
  const tools = { policy, ledger, treatments, cache }
  yield* messagesFrom(subject, tools, compaction, {
    start: layout.tail,
    end: compaction.point,
    messages,
    passes,
  })
  const view = { messages, passes: [...passes], standIns }
  carryView(subject, policy, compaction, view)
  return view

  function* add(indexes: readonly number[]): Steps<void> {
    for (const index of indexes)
      yield* messagesFrom(subject, { policy, ledger, treatments, cache }, compaction, {
        start: index,
        end: index + 1,
        messages,
        passes,
      })
  }

  function* addStandIns(part: FoldedPart | null, around: Beside): Steps<void> {
    if (part === null) return
    passes.add('fold')
    for (const summary of part.summaries) {
      standIns.summaries += 1
      messages.push(standInMessage(summaryText(summary), summary.tokens, 'summary', summary))
    }
    if (part.recap === null) return
    const said = part.summaries.map(({ text }) => text)
    const recap = yield* recapOf(subject, part.recap, { ...around, said }, cache, { areNamed })
    if (recap.text === null) return
    standIns.recaps += 1
    messages.push(standInMessage(recap.text, recap.tokens, 'recap', part.recap))
  }
}

/** Adds the client's messages of a range as they stand under a compaction, and the passes that made them so. */
export function* messagesFrom(
  subject: Subject,
  { ledger, treatments }: ViewTools,
  compaction: Compaction | null,
  into: {
    readonly start: number
    readonly end: number
    readonly messages: ViewMessage[]
    readonly passes: Set<PassName>
  },
): Steps<void> {
  const { reach, clips } = compaction ?? UNTOUCHED
  const known = clipsByIndex(clips)
  for (let index = into.start; index < into.end; index += 1) {
    if ((index - into.start) % MESSAGES_PER_STEP === MESSAGES_PER_STEP - 1) yield
    const message = original(subject, index)
    const treatment = ledger.treatment(index, reach, known)
    const made = treatment.kind === 'kept' ? null : yield* treatments.make(index, treatment)
    if (made === null || made.text === null || made.how === null) {
      into.messages.push(message)
      continue
    }
    into.passes.add(passOf[made.how])
    into.messages.push({
      ...message,
      item: { kind: 'made', json: made.text },
      tokens: made.tokens,
      how: made.how,
    })
  }
}

/** A message of the client's as it is. */
export function original(subject: Subject, index: number): ViewMessage {
  return {
    item: { kind: 'kept', index },
    tokens: subject.sizes[index] ?? 0,
    index,
    role: subject.messages[index]?.facts.role ?? 'other',
    how: 'kept',
    standsFor: null,
    joined: [],
  }
}

/** A message that Foldgate wrote. */
export function standInMessage(
  text: string,
  textTokens: number,
  how: 'summary' | 'recap',
  { start, end, except }: SummaryRange,
): ViewMessage {
  return {
    item: { kind: 'made', json: JSON.stringify({ role: 'user', content: text }) },
    tokens: textTokens + RECAP_FRAME_TOKENS,
    index: null,
    role: 'user',
    how,
    standsFor: { start, end, except },
    joined: [],
  }
}

// --- internal ---

/** Messages taken as they came between two pauses: less than a millisecond. */
const MESSAGES_PER_STEP = 512

function range(start: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - start) }, (_, offset) => start + offset)
}

const passOf = {
  rendered: 'render',
  previewed: 'preview',
  cleared: 'clear',
  clipped: 'clip',
  unloaded: 'clip',
} as const satisfies Record<MadeHow, PassName>
