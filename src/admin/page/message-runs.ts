import type { ShownMessage } from '../../activity/conversations/held-content.ts'

/** Messages that are shown as one. */
export type MessageRun =
  /** A summary or recap with the messages that it stands for, as far as they are there. */
  | { readonly kind: 'folded'; readonly standIn: ShownMessage; readonly messages: readonly ShownMessage[] }
  /** Many in a row that were sent as they came. */
  | { readonly kind: 'kept'; readonly messages: readonly ShownMessage[] }
  | { readonly kind: 'single'; readonly message: ShownMessage }

/** Groups messages for the eye, in their order: what was folded beside what stands for it, and long stretches of kept ones. */
export function messageRuns(messages: readonly ShownMessage[]): readonly MessageRun[] {
  const standIns = messages.filter((message) => message.standsFor !== null)
  const groups = new Map<ShownMessage, ShownMessage[]>()
  const runs: MessageRun[] = []
  let stretch: ShownMessage[] = []

  function endStretch(): void {
    if (stretch.length >= keptRunMin) runs.push({ kind: 'kept', messages: stretch })
    else runs.push(...stretch.map((message) => ({ kind: 'single' as const, message })))
    stretch = []
  }

  for (const message of messages) {
    const standIn = message.standsFor === null ? standInFor(message, standIns) : message
    if (standIn === null) {
      if (isUnremarkable(message)) stretch.push(message)
      else {
        endStretch()
        runs.push({ kind: 'single', message })
      }
      continue
    }
    let group = groups.get(standIn)
    if (group === undefined) {
      // Wherever the two are met first: a summary may stand before or behind what it is made of.
      endStretch()
      group = []
      groups.set(standIn, group)
      runs.push({ kind: 'folded', standIn, messages: group })
    }
    if (message !== standIn) group.push(message)
  }
  endStretch()
  return runs
}

// --- internal ---

/** Fewer in a row are shown one by one. */
const keptRunMin = 4

function standInFor(
  { treatment, index }: ShownMessage,
  standIns: readonly ShownMessage[],
): ShownMessage | null {
  if (treatment !== 'folded' || index === null) return null
  return (
    standIns.find(
      ({ standsFor }) => standsFor !== null && standsFor.start <= index && index < standsFor.end,
    ) ?? null
  )
}

/** Kept, and none of those that one looks for: the system messages, the task, the latest question. */
function isUnremarkable({ treatment, pinned }: ShownMessage): boolean {
  return treatment === 'kept' && pinned !== 'system' && pinned !== 'task' && pinned !== 'latest-user'
}
