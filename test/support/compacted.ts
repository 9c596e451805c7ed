import { compactionFor, type Compacted, type CompactOptions } from '../../src/compaction/compact.ts'
import { createMadeCache, type MadeCache } from '../../src/compaction/made-cache.ts'
import type { Room } from '../../src/tokens/budget.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import type { Compaction } from '../../src/compaction/compaction.ts'
import type { History } from '../../src/compaction/history/history.ts'
import { viewUnder } from '../../src/compaction/view/view.ts'
import { runAtOnce, type Pausable } from '../../src/json/source.ts'
import { historyOf } from './subject.ts'

/** What primes a reply, in tokens. */
export const PRIMING_TOKENS = 3

export type CompactedOptions = {
  readonly profile: Profile
  readonly budgetTokens: number
  readonly newest?: Compaction | null
  /** Default null: its past is not known. */
  readonly seenUntil?: number | null
  readonly strict?: boolean
  readonly forced?: boolean
  readonly cache?: MadeCache
}

/** What is known of a conversation in this room that nobody has seen before. */
export const atFirstSight = (room: Room) => ({
  room,
  differenceTokens: 0,
  seenUntil: null,
  sharedUntil: null,
})

/** The compaction of a conversation for one request, and what is sent. */
export function* compact(history: History, cache: MadeCache, options: CompactOptions): Pausable<Compacted> {
  const { compaction } = yield* compactionFor(history, cache, options)
  return { compaction, view: yield* viewUnder(history, cache, { ...options, compaction }) }
}

/** A conversation as it is sent by one request, with nothing around it but its system messages. */
export function compactedUnder(history: History, options: CompactedOptions): Compacted {
  const { profile, budgetTokens, newest = null, strict = false, forced = false } = options
  const { systemCount } = history.structure
  const systemTokens = history.sizes.slice(0, systemCount).reduce((sum, size) => sum + size, 0)
  const room = { budgetTokens, aroundTokens: systemTokens + PRIMING_TOKENS }
  const cache = options.cache ?? createMadeCache({ bytesMax: 10_000_000 })
  const now = { ...atFirstSight(room), seenUntil: options.seenUntil ?? null, prepared: null }
  return runAtOnce(compact(history, cache, { profile, newest, strict, forced, ...now }))
}

/** What the sent messages weigh, counted from their bytes: what compaction says of itself proves nothing. */
export const sentTokens = ({
  texts,
  around,
}: {
  readonly texts: readonly string[]
  readonly around: number
}): number => historyOf(texts.map(parsed)).sizes.reduce((sum, size) => sum + size, around)

/** What stays whatever happens: leading system block, task, latest user message without its media. */
export function fixedTokens(messages: readonly object[], profile: Profile): number {
  const history = historyOf(messages)
  const { structure, sizes } = history
  const latest = structure.latestUserBefore(messages.length)
  const indexes = new Set(Array(structure.systemCount).keys())
  if (profile.keep.task && structure.task !== -1) indexes.add(structure.task)
  if (latest !== -1) indexes.add(latest)
  // System messages in the middle of the open round stand where they stand.
  const open = structure.lastUnitStart(messages.length)
  for (let index = open; index < messages.length; index += 1) {
    const role = history.messages[index]?.facts.role
    if (role === 'system' || role === 'developer') indexes.add(index)
  }
  const loaded = history.mediaSizes(latest).reduce((sum, size) => sum + size, 0)
  const unloaded = loaded === 0 ? 0 : MEDIA_MARK_TOKENS - loaded
  return [...indexes].reduce((sum, index) => sum + (sizes[index] ?? 0), 3 + unloaded)
}

export function parsed(text: string): object {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? value : {}
}

/** The messages as the rules for them see them. */
export const shapes = (messages: readonly object[]) =>
  historyOf(messages).messages.map((message) => message.facts)

/** The words that stand where media stood, at the most. */
const MEDIA_MARK_TOKENS = 10
