import type { Failures } from '../../activity/failures.ts'
import type { Archive } from '../../archive/archive.ts'
import type { MadeCache } from '../../compaction/made-cache.ts'
import type { ModelKnowledge } from '../../models/open-models.ts'
import type { Profile } from '../../profiles/schema.ts'
import type { StoreGuard } from '../../stores/store-guard.ts'
import type { Store } from '../../stores/store.ts'
import { createAheadRecords } from '../../summaries/ahead-records.ts'
import { createParameterMemory } from '../../summaries/parameter-memory.ts'
import { createRateLimits, type RateLimits } from '../../summaries/rate-limits.ts'
import { createSpentTokens } from '../../summaries/spent-tokens.ts'
import {
  createSummaryWriter,
  type SummaryWriter,
  type SummaryWriterOptions,
} from '../../summaries/summary-writer.ts'
import type { HeldKeyMark } from '../../upstream/held-key-marks.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'
import { createSummarizer, type Summarizer } from './summarizer.ts'

export type OpenSummariesOptions = Pick<SummaryWriterOptions, 'onWritten'> & {
  readonly profiles: () => ReadonlyMap<string, Profile>
  readonly upstreams: Upstreams
  readonly heldKeyMark: HeldKeyMark
  readonly knowledge: ModelKnowledge
  readonly store: Store
  readonly guarded: StoreGuard
  readonly cache: MadeCache
  /** Where what was folded is kept under a name that summaries mention; null where they name no file. */
  readonly mentioned: Archive | null
  readonly failures: Failures
  readonly nowMs: () => number
}

export type Summaries = {
  readonly writer: SummaryWriter
  readonly summarizer: Summarizer
  readonly rateLimits: RateLimits
}

/** Opens what decides on summaries, and what writes them. */
export function openSummaries(options: OpenSummariesOptions): Summaries {
  const { store, guarded, failures, nowMs, heldKeyMark, mentioned } = options
  const rateLimits = createRateLimits({ nowMs, heldKeyMark })
  const writer = createSummaryWriter({
    store,
    guarded,
    onWritten: options.onWritten,
    onDefect: (error) => failures.note('summary', error),
  })
  const summarizer = createSummarizer({
    ...options,
    ...options.knowledge,
    writer,
    rateLimits,
    parameters: createParameterMemory(),
    ahead: createAheadRecords(store, guarded),
    spent: createSpentTokens(store, guarded),
    fileToName: (conversation) => mentioned?.fileOf(conversation) ?? null,
  })
  return { writer, summarizer, rateLimits }
}
