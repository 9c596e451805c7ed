import type { ShownMessage } from '../../activity/conversations/held-content.ts'

/** Messages that are shown as one. */
export type MessageRun =
  /** A summary or recap with the messages that it stands for, as far as they are there. */
  | { readonly kind: 'folded'; readonly standIn: ShownMessage; readonly messages: ShownMessage[] }
  /** Many in a row that were sent as they came. */
  | { readonly kind: 'kept'; readonly messages: readonly ShownMessage[] }
  | { readonly kind: 'single'; readonly message: ShownMessage }

/** Groups messages for the eye, in their order: what was folded beside what stands for it, and long stretches of kept ones. */
export function messageRuns(messages: readonly ShownMessage[]): readonly MessageRun[] {
  const folds = messages
    .filter(({ standsFor }) => standsFor !== null)
    .map((standIn) => ({ kind: 'folded' as const, standIn, messages: [] as ShownMessage[] }))
  const runs: MessageRun[] = []
  let stretch: ShownMessage[] = []

  function add(run: MessageRun | null): void {
    if (stretch.length >= KEPT_RUN_MIN) runs.push({ kind: 'kept', messages: stretch })
    else runs.push(...stretch.map((message) => ({ kind: 'single' as const, message })))
    stretch = []
    if (run !== null) runs.push(run)
  }

  for (const message of messages) {
    const fold = folds.find(({ standIn }) => standIn === message || isFoldedInto(standIn, message))
    // Wherever the two are met first: a summary may stand before or behind what it is made of.
    if (fold !== undefined && !runs.includes(fold)) add(fold)
    if (fold === undefined && isUnremarkable(message)) stretch.push(message)
    else if (fold === undefined) add({ kind: 'single', message })
    else if (fold.standIn !== message) fold.messages.push(message)
  }
  add(null)
  return runs
}

// --- internal ---

/** Fewer in a row are shown one by one. */
const KEPT_RUN_MIN = 4

function isFoldedInto({ standsFor }: ShownMessage, { treatment, index }: ShownMessage): boolean {
  if (standsFor === null || treatment !== 'folded' || index === null) return false
  return standsFor.start <= index && index < standsFor.end
}

const sought: ReadonlySet<ShownMessage['pinned']> = new Set([
  'system',
  'history-start',
  'task',
  'latest-user',
])

/** Kept, and none of those that one looks for: the system messages, the task, the latest question. */
function isUnremarkable({ treatment, pinned }: ShownMessage): boolean {
  return treatment === 'kept' && (pinned === null || !sought.has(pinned))
}
