import { z } from 'zod'
import { shiftedRange } from '../compaction/compaction.ts'
import { parseJsonText } from '../json/json-value.ts'
import type { FoldAhead } from '../compaction/fold-ahead.ts'
import type { Store } from '../storage/store.ts'
import type { StoreGuard } from '../storage/store-guard.ts'
import type { KeyedConversation, RecordedConversation, RecordPlace } from './summary-record.ts'

/**
 * For which fold summaries have been asked, by the request point at which they were: so every request and every replica
 * asks for the same, once, and the compaction that is due takes the frontier that they were asked for.
 */
export function createAheadRecords(store: Store, guarded: StoreGuard) {
  return {
    /**
     * The newest that was made at or after the request point `since`; null if there is none. One that lies far back is
     * recorded anew, so that it is found again.
     */
    find: async ({ chat, place, remembered }: RecordedConversation, since: number) => {
      const points = chat.structure.recordPoints.filter((point) => point >= since).toReversed()
      const keys = points.slice(0, POINTS_MAX).map((point) => recordKey(chat, place, point))
      const found = await guarded(null, () => store.getFirst(keys))
      if (found === null) return null
      if (found.index >= FAR_POINTS) {
        const key = recordKey(chat, place, chat.messages.length)
        await guarded(found.value, () => store.putIfAbsent(key, found.value, remembered.conversation))
      }
      return readFold(found.value, chat)
    },
    /** Records one for the end of the conversation; returns the one that stands, which may be another replica's. */
    keep: async ({ chat, place, remembered }: RecordedConversation, fold: FoldAhead) => {
      const key = recordKey(chat, place, chat.messages.length)
      const text = JSON.stringify(shifted(fold, -chat.structure.systemCount))
      const standing = await guarded(text, () => store.putIfAbsent(key, text, remembered.conversation))
      return readFold(standing, chat) ?? fold
    },
  }
}

// --- internal ---

/** How many of the latest request points are looked at. */
const POINTS_MAX = 256

/** A record that is found this many request points back is recorded anew. */
const FAR_POINTS = 128

function recordKey(chat: KeyedConversation, { scope, profile, model }: RecordPlace, point: number): string {
  return `ahead:${scope}:${profile}:${model}:${chat.keys[point] ?? ''}`
}

const index = z.int().min(0)

const foldSchema = z.object({
  frontier: index,
  kept: z.array(index),
  systemTokensMax: index,
  ranges: z.array(
    z.object({
      start: index,
      end: index,
      except: z.array(index),
      replacedTokens: z.int(),
      expiredTokens: z.int(),
    }),
  ),
})

/** Null if the text is no record or does not fit the conversation: a damaged one costs a call. */
function readFold(text: string, chat: KeyedConversation): FoldAhead | null {
  const read = foldSchema.safeParse(parseJsonText(text)).data
  if (read === undefined) return null
  const fold = shifted(read, chat.structure.systemCount)
  const isInside = ({ start, end }: { readonly start: number; readonly end: number }): boolean =>
    start < end && end <= fold.frontier
  const isSound =
    fold.frontier <= chat.messages.length &&
    chat.structure.isFrontier(fold.frontier) &&
    fold.ranges.every(isInside)
  return isSound ? fold : null
}

function shifted(fold: FoldAhead, by: number): FoldAhead {
  return {
    ...fold,
    frontier: fold.frontier + by,
    kept: fold.kept.map((kept) => kept + by),
    ranges: fold.ranges.map((range) => shiftedRange(range, by)),
  }
}
