import type { Steps } from '../../json/source.ts'
import { type Compaction, FOLD_VERSION, type Treatment } from '../compaction.ts'
import { ascending } from '../thoughts.ts'
import { plannedTokens } from '../token-counts.ts'
import type { Frame } from './frame.ts'

/** How far the planning of a compaction has come. */
export type Draft = Treatment & {
  /** Where the newest messages begin that no pass edits and no fold reaches. */
  readonly protectedFrom: number
  /** What its view takes in tokens, what surrounds it included. */
  readonly tokens: number
}

/** A draft and what its view comes to. */
export function* countedDraft<Drafted extends Omit<Draft, 'tokens'>>(
  { counts, options }: Frame,
  draft: Drafted,
): Steps<Drafted & Pick<Draft, 'tokens'>> {
  return { ...draft, tokens: options.room.aroundTokens + (yield* plannedTokens(counts, draft, draft.point)) }
}

/** The compaction that a draft is. What is folded is cleared no longer. */
export function recordOf({ options }: Frame, draft: Draft): Compaction {
  const { point, task, latestUser, reach, fold, clips, cleared, thoughts } = draft
  const frontier = fold?.frontier ?? 0
  const staying = new Set([...(fold?.kept ?? []), ...(fold?.restated ?? [])])
  return {
    version: FOLD_VERSION,
    reason: options.reason,
    point,
    task,
    latestUser,
    reach,
    fold,
    clips,
    cleared: ascending(cleared.filter((index) => index >= frontier || staying.has(index))),
    thoughts,
  }
}
