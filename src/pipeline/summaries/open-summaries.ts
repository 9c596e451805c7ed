import type { Failures } from '../../telemetry/failures.ts'
import type { Archive } from '../../archive/archive.ts'
import type { MadeCache } from '../../compaction/made-cache.ts'
import type { Log } from '../../telemetry/log/log.ts'
import type { ModelKnowledge } from '../../models/open-models.ts'
import type { Profile } from '../../profiles/schema.ts'
import { createAheadRecords } from '../../summaries/ahead-records.ts'
import { createRateLimits } from '../../summaries/rate-limits.ts'
import { createRejections } from '../../summaries/refused-fields.ts'
import { createSpentTokens } from '../../summaries/spent-tokens.ts'
import { createSummaryWriter, type SummaryWriterOptions } from '../../summaries/summary-writer.ts'
import type { HeldKeyMark } from '../../upstream/credential.ts'
import type { Upstreams } from '../../upstream/upstreams.ts'

export type OpenSummariesOptions = Pick<SummaryWriterOptions, 'store' | 'guarded' | 'onWritten'> & {
  readonly profiles: () => ReadonlyMap<string, Profile>
  readonly upstreams: Upstreams
  readonly heldKeyMark: HeldKeyMark
  readonly knowledge: ModelKnowledge
  readonly cache: MadeCache
  /** The archive whose files summaries mention; null if they name no file. */
  readonly mentioned: Archive | null
  readonly failures: Failures
  readonly log: Log
  readonly nowMs: () => number
}

/** What decides on summaries, and what writes them. */
export type SummaryParts = ReturnType<typeof openSummaries>

export function openSummaries(options: OpenSummariesOptions) {
  const { store, guarded, failures, heldKeyMark, mentioned } = options
  return {
    ...options,
    ...options.knowledge,
    rateLimits: createRateLimits(heldKeyMark),
    writer: createSummaryWriter({
      store,
      guarded,
      onWritten: options.onWritten,
      onDefect: (error) => failures.note('summary', error),
    }),
    rejections: createRejections(),
    ahead: createAheadRecords(store, guarded),
    spent: createSpentTokens(store, guarded),
    /** The file of a conversation that its summaries name; null if they name none. */
    fileToName: (conversation: string) => mentioned?.fileOf(conversation) ?? null,
  }
}
