import type { Archive } from '../archive/archive.ts'
import { createArchiving } from '../archive/archiving.ts'
import { createMadeCache } from '../compaction/made-cache.ts'
import type { Settings } from '../config/settings.ts'
import { createFactsReader } from '../dialects/entry-facts.ts'
import type { Doors } from '../http/open-http.ts'
import type { Log } from '../log/log.ts'
import type { ModelKnowledge } from '../models/open-models.ts'
import { createPrefixCauses } from './tell/prefix-cause.ts'
import { createRecallOffers } from './recall/recall-offer.ts'
import { createAllowance } from '../scheduling/allowance.ts'
import { createHeavyWork } from '../scheduling/heavy-work.ts'
import { lifetimeMsOf } from '../stores/open-store.ts'
import { createStoreGuard, type StoreGuard } from '../stores/store-guard.ts'
import type { Store } from '../stores/store.ts'
import type { SummaryWriterOptions } from '../summaries/summary-writer.ts'
import type { HeldKeyMark } from '../upstream/held-key-marks.ts'
import { createHandle } from './handle.ts'
import { createMeasure } from './measure/measure.ts'
import { createKinds } from './plain/kinds.ts'
import { createPlainWay } from './plain/plain-way.ts'
import { digest } from './read/body-source.ts'
import { createLastBodies } from './read/last-bodies.ts'
import type { RequestParts } from './parts.ts'
import { readLimits } from './read/read-limits.ts'
import { createSharedPools } from './send/shared-pool.ts'
import { createRequestedCompactions, type RequestedCompactions } from './records/requested-compactions.ts'
import { createCompactedPlaces } from './records/compacted-places.ts'
import { createRecords } from './records/records.ts'
import { openSummaries } from './summaries/open-summaries.ts'

export type OpenRequestsOptions = Pick<
  RequestParts,
  'profiles' | 'upstreams' | 'failures' | 'reports' | 'warnings' | 'nowMs' | 'onFailure'
> & {
  readonly settings: Settings
  readonly http: Doors
  readonly heldKeyMark: HeldKeyMark
  readonly knowledge: ModelKnowledge
  readonly store: Store
  readonly guarded: StoreGuard
  /** Null where nothing is kept. */
  readonly archive: Archive | null
  readonly log: Log
  readonly onSummary: SummaryWriterOptions['onWritten']
}

/** The way of conversations through Foldgate, and what the operator may ask of it. */
export type Requests = {
  readonly handle: ReturnType<typeof createHandle>
  readonly requestedCompactions: RequestedCompactions
  /** Forgets a conversation's summaries, with whether there were any, and all that was read of any conversation. */
  readonly forget: (conversation: string) => Promise<boolean>
  readonly close: () => Promise<void>
}

export function openRequests(options: OpenRequestsOptions): Requests {
  const { settings, http, knowledge, store, guarded, archive, failures, log, warnings, nowMs } = options
  const { limits } = settings
  const cache = createMadeCache({ charsMax: MADE_CHARS_MAX })
  const summaries = openSummaries({
    ...options,
    cache,
    mentioned: settings.archive.mention ? archive : null,
    onWritten: options.onSummary,
  })
  // With a guard of its own: what it looks up ahead of need must not keep requests from their records.
  const compacted = createCompactedPlaces({
    store,
    guarded: createStoreGuard(failures),
    lifetimeMs: lifetimeMsOf(settings.store),
    nowMs,
  })
  const records = createRecords(store, guarded, compacted.note)
  const requestedCompactions = createRequestedCompactions(store, guarded)
  const lastBodies = createLastBodies({
    bytesMax: limits.last_bodies_mb * 1024 * 1024,
    bodyBytesMin: LAST_BODY_BYTES_MIN,
    idleMs: LAST_BODY_IDLE_MS,
  })
  const usageInStreams = settings.usage.in_streams
  const kinds = createKinds({ ...options, ...knowledge, compacted, requestedCompactions, usageInStreams })
  const detailed = createAllowance(settings.small_requests.detailed_per_s)
  const poolOf = createSharedPools()
  const handle = createHandle({
    ...options,
    ...http,
    ...knowledge,
    kinds,
    poolOf,
    plainWay: createPlainWay({ ...options, ...http, ...knowledge, kinds, detailed, poolOf }),
    summaries,
    cache,
    records,
    requestedCompactions,
    usageInStreams,
    measure: createMeasure({
      counts: knowledge.counts,
      wantsCount: knowledge.learning.wantsCount,
      holdsLimit: knowledge.windows.holdsLimit,
      onGuess: warnings.guessed,
    }),
    keepTaken: createArchiving({ archive, cache, failures, nowMs }),
    recallOffer: createRecallOffers(),
    prefixCause: createPrefixCauses(),
    heavyWork: createHeavyWork({ bytesMin: HEAVY_BYTES_MIN }),
    reading: {
      readFacts: createFactsReader(digest, { entriesMax: FACTS_ENTRIES_MAX }),
      limits: readLimits(limits),
      lastBodies,
    },
    onRepaired: (repairs) => log.debug('a conversation was repaired', repairs),
  })
  return {
    handle,
    requestedCompactions,
    forget: (conversation) => {
      // No id leads to a body or to what was read: all of it goes, and the next request of each conversation is read
      // as a whole.
      lastBodies.clear()
      records.forgetRead()
      return summaries.writer.forget(conversation)
    },
    close: summaries.writer.close,
  }
}

// --- internal ---

/** From so many new bytes on a conversation waits until another has been measured: some tens of milliseconds of work. */
const HEAVY_BYTES_MIN = 512 * 1024

/** Messages whose facts are remembered: some hundred bytes each, no content. */
const FACTS_ENTRIES_MAX = 50_000

/** A smaller body is read as fast as one before it would be found, in bytes. */
const LAST_BODY_BYTES_MIN = 64 * 1024

/** How long a body is held for the next request of its conversation, in milliseconds. */
const LAST_BODY_IDLE_MS = 600_000

/** What previews, recaps and the like that are kept to be sent again may take, in characters. */
const MADE_CHARS_MAX = 32 * 1024 * 1024
