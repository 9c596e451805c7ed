import type { KeyedConversation, RecordPlace } from './summary-keys.ts'
import { z } from 'zod'
import { shiftedRange } from '../compaction/compaction.ts'
import { parseJsonText } from '../conversation/json-value.ts'
import type { FoldAhead } from '../compaction/ahead.ts'
import type { Store } from '../stores/store.ts'
import type { StoreGuard } from '../stores/store-guard.ts'

/**
 * For which fold summaries have been asked, by the request point at which they were: so every request and every replica
 * asks for the same, once, and the compaction that is due takes the frontier that they were asked for.
 */
export type AheadRecords = {
  /**
   * The newest that was made at or after the request point `since`; null where there is none. One that lies far back is
   * recorded anew, so that it is found again.
   */
  readonly find: (
    chat: KeyedConversation,
    place: RecordPlace,
    since: number,
    conversation: string,
  ) => Promise<FoldAhead | null>
  /** Records one for the end of the conversation; returns the one that stands. */
  readonly keep: (
    chat: KeyedConversation,
    place: RecordPlace,
    fold: FoldAhead,
    conversation: string,
  ) => Promise<FoldAhead>
}

export function createAheadRecords(store: Store, guarded: StoreGuard): AheadRecords {
  return {
    find: async (chat, place, since, conversation) => {
      const points = chat.structure.recordPoints.filter((point) => point >= since).toReversed()
      const keys = points.slice(0, POINTS_MAX).map((point) => recordKey(chat, place, point))
      const found = await guarded(null, () => store.getFirst(keys))
      if (found === null) return null
      if (found.index >= FAR_POINTS) {
        const key = recordKey(chat, place, chat.messages.length)
        await guarded(found.value, () => store.putIfAbsent(key, found.value, conversation))
      }
      return readFold(found.value, chat)
    },
    keep: async (chat, place, fold, conversation) => {
      const key = recordKey(chat, place, chat.messages.length)
      const text = writeFold(fold, chat)
      const standing = await guarded(text, () => store.putIfAbsent(key, text, conversation))
      return readFold(standing, chat) ?? fold
    },
  }
}

// --- internal ---

/** How many of the latest request points are looked at. */
const POINTS_MAX = 256

/** So far back a record is recorded anew. */
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

function writeFold(fold: FoldAhead, chat: KeyedConversation): string {
  return JSON.stringify(shifted(fold, -chat.structure.systemCount))
}

/** Null where the text is none or does not fit the conversation: a damaged record costs a call. */
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
