import type { Steps } from '../../conversation/source.ts'
import { layoutOf, UNTOUCHED } from '../layout.ts'
import { joinUsers } from './placement.ts'
import type { PassName } from '../policy.ts'
import { BARE_MARK } from '../recap/recap.ts'
import { messagesFrom, original, standInMessage, standingView, type ViewTools } from './standing-view.ts'
import type { Compaction } from '../compaction.ts'
import type { Subject } from '../subject.ts'
import type { ViewMessage } from './view-message.ts'

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
  readonly compaction: Compaction | null
  /** Whether user messages are joined, for templates that want the roles to alternate. */
  readonly strict: boolean
}

/** The messages that are sent for a conversation that stands in this compaction. */
export function* buildView(
  subject: Subject,
  tools: ViewTools,
  { compaction, strict }: ViewOptions,
): Steps<View> {
  const { systemCount } = subject.structure
  const messages: ViewMessage[] = []
  const passes = new Set<PassName>()
  let standIns = { summaries: 0, recaps: 0 }

  for (let index = 0; index < systemCount; index += 1) messages.push(original(subject, index))
  if (compaction !== null) {
    const standing = yield* standingView(subject, tools, compaction)
    for (const message of standing.messages) messages.push(message)
    for (const pass of standing.passes) passes.add(pass)
    standIns = { ...standing.standIns }
  }
  const { tail } = layoutOf(compaction ?? UNTOUCHED, systemCount)
  yield* messagesFrom(subject, tools, compaction, {
    start: Math.max(tail, compaction?.point ?? 0),
    end: subject.messages.length,
    messages,
    passes,
  })

  // Where everything was folded and no recap fits, something still has to be asked.
  const isBare = messages.length === systemCount && subject.messages.length > systemCount
  if (isBare) {
    const all = { start: systemCount, end: subject.messages.length, except: [] }
    messages.push(standInMessage(BARE_MARK, subject.count(BARE_MARK), 'recap', all))
  }
  const placed = strict ? joinUsers(subject, messages) : messages
  return {
    messages: placed,
    tokens: placed.reduce((sum, message) => sum + message.tokens, 0),
    passes: passOrder.filter((pass) => passes.has(pass)),
    standIns,
  }
}

// --- internal ---

const passOrder: readonly PassName[] = ['render', 'preview', 'clear', 'fold', 'clip']
