import type { Ledger } from '../ledger.ts'
import type { Subject } from '../subject.ts'
import type { Parts } from './parts.ts'
import type { Pins } from './pins.ts'

export type RecentOptions = {
  readonly point: number
  readonly parts: Parts
  /** How many of the newest messages are meant to stay, in messages. */
  readonly keepRecent: number
  /** How much of them those may take, in tokens. */
  readonly keptTokensMax: number
  /** How much of the newest messages stays as it was anyway, and how much where a whole unit exceeds that, in tokens. */
  readonly tokensMin: number
  readonly tokensMax: number
}

export type Recent = {
  /** Where they begin. */
  readonly from: number
  /** What they take beside pinned ones, in tokens. */
  readonly tokens: number
  /** Where they do not come to their share, because the unit before them is too large to stay whole: where that begins. */
  readonly cutFrom: number | null
}

/**
 * The newest messages that a compaction leaves as they were: the newest round, and before it whole units, for at least
 * their share and for as many messages as the profile keeps, as far as there is room.
 */
export function recentMessages(subject: Subject, ledger: Ledger, pins: Pins, options: RecentOptions): Recent {
  const { structure } = subject
  const { point, parts } = options
  let start = parts.newestFrom
  let tokens = parts.sizes.newestRound + parts.sizes.newestUser
  while (start > structure.systemCount) {
    const isKept = point - start < options.keepRecent
    if (tokens >= options.tokensMin && !isKept) break
    const unit = Math.max(structure.systemCount, structure.unitStart(start - 1))
    let unitTokens = ledger.originalTokens(unit, start)
    for (const index of new Set([pins.task, pins.latestUser]))
      if (index >= unit && index < start) unitTokens -= subject.sizes[index] ?? 0
    const tokensMax = isKept ? Math.max(options.keptTokensMax, options.tokensMax) : options.tokensMax
    if (tokens + unitTokens > tokensMax) {
      return { from: start, tokens, cutFrom: tokens < options.tokensMin ? unit : null }
    }
    tokens += unitTokens
    start = unit
  }
  return { from: start, tokens, cutFrom: null }
}
