import { compactionFor, type Compacted, type CompactOptions } from '../../src/compaction/compact.ts'
import { createMadeCache, type MadeCache } from '../../src/compaction/made-cache.ts'
import type { Policy, Room } from '../../src/compaction/policy.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import type { Subject } from '../../src/compaction/subject.ts'
import { viewUnder } from '../../src/compaction/view/view.ts'
import { finish, type Steps } from '../../src/conversation/source.ts'

/** What primes a reply, in tokens. */
export const PRIMING_TOKENS = 3

export type CompactedOptions = {
  readonly policy: Policy
  readonly budgetTokens: number
  readonly newest?: Compaction | null
  /** Default null: its past is not known. */
  readonly seenUntil?: number | null
  readonly strict?: boolean
  readonly forced?: boolean
  readonly cache?: MadeCache
}

/** What is known of a conversation in this room that nobody has seen before. */
export function atFirstSight(room: Room) {
  return { room, differenceTokens: 0, seenUntil: null, sharedUntil: null }
}

/** The compaction of a conversation for one request, and what is sent. */
export function* compact(subject: Subject, cache: MadeCache, options: CompactOptions): Steps<Compacted> {
  const { compaction } = yield* compactionFor(subject, cache, options)
  return { compaction, view: yield* viewUnder(subject, cache, { ...options, compaction }) }
}

/** A conversation as it is sent by one request, with nothing around it but its system messages. */
export function compactedUnder(subject: Subject, options: CompactedOptions): Compacted {
  const { policy, budgetTokens, newest = null, strict = false, forced = false } = options
  const { systemCount } = subject.structure
  const systemTokens = subject.sizes.slice(0, systemCount).reduce((sum, size) => sum + size, 0)
  const room = { budgetTokens, aroundTokens: systemTokens + PRIMING_TOKENS }
  const cache = options.cache ?? createMadeCache({ charsMax: 10_000_000 })
  const now = { ...atFirstSight(room), seenUntil: options.seenUntil ?? null, prepared: null }
  return finish(compact(subject, cache, { policy, newest, strict, forced, ...now }))
}
