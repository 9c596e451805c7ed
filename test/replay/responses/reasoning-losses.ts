import { typeOf } from '../../support/responses/wire-item.ts'
import type { RecordedResponsesRequest } from '../../support/responses/responses-upstream.ts'
import { textOf } from '../../support/strict-upstream/wire-message.ts'

/** What became of a conversation's reasoning at one request. */
export type Losses = {
  /** Reasoning that the model was shown at the request before, or that it has thought there, and is not shown now. */
  readonly lost: number
  /** Of it, what was thought right after the compaction before: that compaction has cost reasoning twice. */
  readonly lostAtOnce: number
  /** Of it, what was lost before and had come back. */
  readonly lostTwice: number
  /** Reasoning that was sent behind a prefix that it was not made on. */
  readonly sentDead: number
}

/** Follows the reasoning of one conversation from request to request. */
export type ReasoningWatch = {
  /** Takes what was received last for a request. */
  asked(received: Pick<RecordedResponsesRequest, 'items' | 'removed'>, isCompaction: boolean): Losses
  /** Takes the ids of the reasoning in its reply. */
  replied(ids: readonly string[]): void
}

export function watchReasoning(): ReasoningWatch {
  let alive = new Set<string>()
  let madeAtCompaction: ReadonlySet<string> = new Set()
  let wasCompaction = false
  const lostOnce = new Set<string>()
  return {
    asked({ items, removed }, isCompaction) {
      const shown = new Set(
        items.filter((item) => typeOf(item) === 'reasoning').map((item) => textOf(item['id'])),
      )
      const lost = [...alive].filter((id) => !shown.has(id))
      const losses = {
        lost: lost.length,
        lostAtOnce: lost.filter((id) => madeAtCompaction.has(id)).length,
        lostTwice: lost.filter((id) => lostOnce.has(id)).length,
        sentDead: removed.length,
      }
      for (const id of lost) lostOnce.add(id)
      alive = shown
      wasCompaction = isCompaction
      return losses
    },
    replied(ids) {
      for (const id of ids) alive.add(id)
      madeAtCompaction = new Set(wasCompaction ? ids : [])
    },
  }
}
