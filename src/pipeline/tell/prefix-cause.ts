import type { PrefixCause } from '../../telemetry/request-report.ts'
import { spansAround } from '../billing-line.ts'
import type { Chat, AnsweredRequest } from '../request.ts'
import { anyHasBoundThoughts } from '../../compaction/history/history.ts'
import { lruCache } from '../../caches.ts'

/**
 * Tells whose doing another prefix is. What is sent as the client wrote it, in a conversation that was never compacted, is the
 * client's. Under a compaction it is Foldgate's, unless the client was seen to change what stands before the history (tools,
 * instructions, schema, leading system messages) after that compaction was made. What it changes elsewhere, and what it
 * changed before this process saw it, is taken for Foldgate's.
 */
export function createPrefixCauses() {
  const seen = lruCache<Beginning>(CONVERSATIONS_MAX)
  return function prefixCause({ chat, place, remembered, outcome }: AnsweredRequest): PrefixCause {
    const { form, offersRecall } = outcome
    const compaction = form.compacted?.compaction ?? remembered.compaction
    if (compaction === null) return form.isRewritten || offersRecall ? 'foldgate' : 'client'
    if (!anyHasBoundThoughts(chat.messages)) return 'foldgate'
    const key = `${place.scope} ${remembered.conversation}`
    const around = aroundHistory(chat)
    const before = seen.get(key)
    // What was thought under the compaction before is gone, unless this one kept it.
    const isSame = form.made === null && before?.point === compaction.point
    const wasThoughtBefore = before !== undefined && (isSame || compaction.thoughts.length > 0)
    const hasChanged = wasThoughtBefore && (before.hasChanged || before.around !== around)
    seen.set(key, { point: compaction.point, around, hasChanged })
    return hasChanged ? 'client' : 'foldgate'
  }
}

// --- internal ---

/** What stood before the history at the last request under a compaction. */
type Beginning = {
  readonly point: number
  readonly around: string
  /** Whether it has been another one under this compaction. */
  readonly hasChanged: boolean
}

const CONVERSATIONS_MAX = 4_096

/** Names what stands before the history and is sent as it came. A line for billing is none of the prefix. */
function aroundHistory({ source, body, messages, structure }: Chat): string {
  const spans = [...spansAround(body.system, body.billingLine), body.tools, body.legacyTools, body.schema]
  const hashes = spans.map((span) => (span === null ? '' : source.hash(span.start, span.end)))
  for (const { facts } of messages.slice(0, structure.systemCount)) hashes.push(facts.hash)
  return hashes.join(' ')
}
