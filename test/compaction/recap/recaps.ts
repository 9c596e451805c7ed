import type { StandingSummary } from '../../../src/compaction/compaction.ts'
import type { FoldedRun } from '../../../src/compaction/folded-parts.ts'
import { createMadeCache, type MadeCache } from '../../../src/compaction/made-cache.ts'
import { recapOf } from '../../../src/compaction/recap/recap.ts'
import { worldAt } from '../../../src/compaction/recap/agent-state.ts'
import type { History } from '../../../src/compaction/history/history.ts'
import { runAtOnce } from '../../../src/json/source.ts'
import { recapParts } from '../../../src/profiles/schema.ts'
import { profileOf, historyOf } from '../../support/subject.ts'

export type RecapOptions = Partial<FoldedRun> & {
  /** Indexes of the messages that still stand in the view. */
  readonly visible?: readonly number[]
  readonly shortened?: readonly number[]
  /** Summaries that stand before it. */
  readonly summaries?: readonly StandingSummary[]
  readonly cache?: MadeCache
  /** Whether messages are named, so that they can be read back. */
  readonly areNamed?: boolean
  /** The parts that it tells; all if left out. */
  readonly tell?: readonly (typeof recapParts)[number][]
}

export const newCache = (): MadeCache => createMadeCache({ bytesMax: 1e8 })

/** The recap of a whole conversation but for its visible messages; null where there is not even a mark. */
export function recap(conversation: readonly object[] | History, options: RecapOptions = {}): string | null {
  const history = 'messages' in conversation ? conversation : historyOf(conversation)
  const {
    visible = [],
    shortened = [],
    summaries = [],
    cache = newCache(),
    areNamed = false,
    tell = recapParts,
    ...run
  } = options
  const end = history.messages.length
  const folded = { start: 0, end, except: visible, tokensMax: 1024, systemTokensMax: 256, ...run }
  const world = runAtOnce(
    worldAt(history, end, (index) => visible.includes(index), areNamed, {
      frontier: end,
      keptTokensMax: 256,
    }),
  )
  const profile = profileOf({ recap: { tell }, recall: { enabled: areNamed } })
  return runAtOnce(recapOf(history, folded, { visible, shortened, summaries, world }, cache, profile)).text
}

export const recapText = (conversation: readonly object[] | History, options?: RecapOptions): string =>
  recap(conversation, options) ?? ''
