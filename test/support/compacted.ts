import { compact, type Compacted } from '../../src/compaction/compact.ts'
import { createMadeCache, type MadeCache } from '../../src/compaction/made-cache.ts'
import type { Policy } from '../../src/compaction/policy.ts'
import type { Stride } from '../../src/compaction/stride.ts'
import type { Subject } from '../../src/compaction/subject.ts'
import { finish } from '../../src/conversation/source.ts'
import { noExcess } from '../../src/pressure/calibration/expected.ts'

/** What primes a reply, in tokens. */
export const PRIMING_TOKENS = 3

export type CompactedOptions = {
  readonly policy: Policy
  /** The same yesterday as today. */
  readonly budgetTokens: number
  readonly newest?: Stride | null
  readonly strict?: boolean
  readonly forced?: boolean
  readonly cache?: MadeCache
}

/** A conversation as it is sent by one request, with nothing around it but its system messages. */
export function compactedUnder(subject: Subject, options: CompactedOptions): Compacted {
  const { policy, budgetTokens, newest = null, strict = false, forced = false } = options
  const { systemCount } = subject.structure
  const systemTokens = subject.sizes.slice(0, systemCount).reduce((sum, size) => sum + size, 0)
  const room = { budgetTokens, aroundTokens: systemTokens + PRIMING_TOKENS, slackTokens: 0 }
  const cache = options.cache ?? createMadeCache({ charsMax: 10_000_000 })
  const numbers = { nominal: room, actual: room, excess: noExcess, prepared: null }
  return finish(compact(subject, cache, { policy, newest, strict, forced, ...numbers }))
}
