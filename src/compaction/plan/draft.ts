import type { Steps } from '../../json/source.ts'
import type { Compaction } from '../compaction.ts'
import { plannedTokens } from '../token-counts.ts'
import { ascending } from '../thoughts.ts'
import type { Frame } from './frame.ts'

/** How far the planning of a compaction has come. */
export type Draft = Pick<Compaction, 'point' | 'reach' | 'cleared' | 'fold' | 'clips' | 'thoughts'> & {
  /** Where the newest messages begin that no pass edits and no fold reaches. */
  readonly protectedFrom: number
  /** What its view takes in tokens, what surrounds it included. */
  readonly tokens: number
}

/** A draft and what its view comes to. */
export function* countedDraft({ counts, options, pins }: Frame, draft: Omit<Draft, 'tokens'>): Steps<Draft> {
  const viewTokens = yield* plannedTokens(counts, { ...pins, ...draft }, draft.point)
  return { ...draft, tokens: options.room.aroundTokens + viewTokens }
}

/** What a draft's record says: what is folded is cleared no longer. */
export function recordedIn({ reach, cleared, fold, clips, thoughts }: Draft) {
  const frontier = fold?.frontier ?? 0
  const staying = new Set([...(fold?.kept ?? []), ...(fold?.restated ?? [])])
  const still = cleared.filter((index) => index >= frontier || staying.has(index))
  return { reach, fold, clips, cleared: ascending(still), thoughts }
}
