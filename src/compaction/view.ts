import type { Steps } from '../conversation/source.ts'
import type { ViewItem } from '../conversation/splice.ts'
import { carriedView, carryView } from './carried.ts'
import { clipsByIndex, layoutOf, RECAP_FRAME_TOKENS, UNTOUCHED, type FoldedPart } from './layout.ts'
import type { Ledger } from './ledger.ts'
import type { MadeCache, MadeHow } from './made-cache.ts'
import { joinUsers } from './placement.ts'
import type { PassName, Policy } from './policy.ts'
import { BARE_MARK, recapOf, type Beside } from './recap/recap.ts'
import type { Stride, SummaryRange } from './stride.ts'
import type { Subject } from './subject.ts'
import { summaryText } from './summary-message.ts'
import type { Treatments } from './treatments.ts'

/** One message of a view: one of the client's as it is, or one that Foldgate wrote. */
export type ViewMessage = {
  readonly item: ViewItem
  readonly tokens: number
  /** The client's message that it is or was made of; null for a recap. */
  readonly index: number | null
  readonly role: string
  /** What became of the client's message, or what Foldgate wrote; of a joined one, of that whose fields it has. */
  readonly how: 'kept' | MadeHow | 'summary' | 'recap'
  /** The messages that a summary or recap stands for; null for all others. */
  readonly standsFor: SummaryRange | null
  /** Under strict placement, the messages that were joined in this one, as they were; empty where none were. */
  readonly joined: readonly ViewMessage[]
}

export type View = {
  readonly messages: readonly ViewMessage[]
  /** Tokens of all of its messages, by Foldgate's own count. */
  readonly tokens: number
  /** The passes whose outcome stands in it. */
  readonly passes: readonly PassName[]
  /** What stands in it for folded messages: there may have been no room for anything. */
  readonly standIns: { readonly summaries: number; readonly recaps: number }
}

export type ViewOptions = {
  readonly stride: Stride | null
  /** Whether user messages are joined, for templates that want the roles to alternate. */
  readonly strict: boolean
  /** Whether recaps name messages, by which they can be read back. */
  readonly areNamed: boolean
}

/** The messages that are sent for a conversation that stands in this stride. */
export function* buildView(
  subject: Subject,
  policy: Policy,
  ledger: Ledger,
  treatments: Treatments,
  cache: MadeCache,
  options: ViewOptions,
): Steps<View> {
  const stride = options.stride ?? { ...UNTOUCHED, point: 0 }
  const { systemCount } = subject.structure
  const layout = layoutOf(stride, systemCount)
  const clips = clipsByIndex(stride.clips)
  const messages: ViewMessage[] = []
  const passes = new Set<PassName>()
  const standIns = { summaries: 0, recaps: 0 }

  for (let index = 0; index < systemCount; index += 1) messages.push(original(subject, index))
  const standing = options.stride === null ? null : carriedView(subject, policy, options.stride)
  const carried = standing?.areNamed === options.areNamed ? standing : null
  if (carried === null) yield* addUpToPoint()
  else {
    for (const message of carried.messages) messages.push(message)
    for (const pass of carried.passes) passes.add(pass)
    Object.assign(standIns, carried.standIns)
  }
  if (options.stride !== null && carried === null) {
    const view = {
      areNamed: options.areNamed,
      messages: messages.slice(systemCount),
      passes: [...passes],
      standIns: { ...standIns },
    }
    carryView(subject, policy, options.stride, view)
  }
  yield* addTail(Math.max(layout.tail, stride.point), subject.messages.length)

  // Where everything was folded and no recap fits, something still has to be asked.
  const isBare = messages.length === systemCount && subject.messages.length > systemCount
  if (isBare) {
    const all = { start: systemCount, end: subject.messages.length, except: [] }
    messages.push(standInMessage(BARE_MARK, subject.count(BARE_MARK), 'recap', all))
  }
  const placed = options.strict ? joinUsers(subject, messages) : messages
  return {
    messages: placed,
    tokens: placed.reduce((sum, message) => sum + message.tokens, 0),
    passes: passOrder.filter((pass) => passes.has(pass)),
    standIns,
  }

  /** What stands between the system block and the stride's point. */
  function* addUpToPoint(): Steps<void> {
    if (layout.task !== null) messages.push(yield* treated(layout.task))
    for (const index of layout.kept) messages.push(yield* treated(index))
    const pinned = [layout.task, ...layout.kept, layout.latestUser].filter((index) => index !== null)
    // A name that stands only in what was cleared or shortened is not there to be read.
    const isWhole = (index: number): boolean => {
      const { kind } = ledger.treatment(index, stride.reach, clips)
      return kind === 'kept' || kind === 'rendered'
    }
    const tail = range(layout.tail, stride.point)
    const beside: Beside = {
      visible: [...pinned, ...tail.filter(isWhole)],
      shortened: tail.filter((index) => !isWhole(index)),
      said: [],
    }
    yield
    // A recap before the latest user message leaves out only what is pinned: so it stays the same, and in the
    // provider's cache, while further strides of the same turn move the tail.
    yield* addStandIns(
      layout.before,
      layout.latestUser === null ? beside : { visible: pinned, shortened: [], said: [] },
    )
    if (layout.latestUser !== null) messages.push(yield* treated(layout.latestUser))
    yield* addStandIns(layout.after, beside)
    yield* addTail(layout.tail, stride.point)
  }

  function* addTail(start: number, end: number): Steps<void> {
    for (let index = start; index < end; index += 1) {
      messages.push(yield* treated(index))
      if (messages.length % MESSAGES_PER_STEP === 0) yield
    }
  }

  function* treated(index: number): Steps<ViewMessage> {
    const treatment = ledger.treatment(index, stride.reach, clips)
    if (treatment.kind === 'kept') return original(subject, index)
    const made = yield* treatments.make(index, treatment)
    if (made.text === null || made.how === null) return original(subject, index)
    passes.add(passOf[made.how])
    const message = original(subject, index)
    return { ...message, item: { kind: 'made', json: made.text }, tokens: made.tokens, how: made.how }
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
    const recap = yield* recapOf(subject, part.recap, { ...around, said }, cache, options)
    if (recap.text === null) return
    standIns.recaps += 1
    messages.push(standInMessage(recap.text, recap.tokens, 'recap', part.recap))
  }
}

// --- internal ---

/** Messages taken as they came between two pauses: less than a millisecond. */
const MESSAGES_PER_STEP = 512

function standInMessage(
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

const passOrder: readonly PassName[] = ['render', 'preview', 'clear', 'fold', 'clip']

function original(subject: Subject, index: number): ViewMessage {
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
