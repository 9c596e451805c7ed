import type { Archive } from '../archive/archive.ts'
import { createArchiving } from '../archive/archiving.ts'
import { createMadeCache } from '../compaction/made-cache.ts'
import type { Settings } from '../config/settings.ts'
import { createFactsReader } from '../formats/entry-facts.ts'
import { createPrefixCauses } from './tell/prefix-cause.ts'
import { createRecallOffers } from './recall/recall-offer.ts'
import { createHeavyWork } from '../scheduling/heavy-work.ts'
import { createHandle } from './handle.ts'
import { createMeasure } from './measure/measure.ts'
import { digest, readLimits } from './read/read-chat.ts'
import { createLastBodies } from './read/last-bodies.ts'
import type { RequestParts } from './request-parts.ts'
import { createSharedPools } from './send/shared-pool.ts'
import { createRequestedCompactions } from './records/requested-compactions.ts'
import { createRecords } from './records/records.ts'
import { openSummaries, type OpenSummariesOptions } from './summaries/open-summaries.ts'

export type OpenRequestsOptions = Omit<OpenSummariesOptions, 'cache' | 'mentioned' | 'onWritten'> &
  Pick<RequestParts, 'reports' | 'warnings'> & {
    readonly settings: Settings
    /** Null where nothing is kept. */
    readonly archive: Archive | null
    readonly onSummary: OpenSummariesOptions['onWritten']
  }

export type Requests = ReturnType<typeof openRequests>

/** The way of conversations through Foldgate, and what the operator may ask of it. */
export function openRequests(options: OpenRequestsOptions) {
  const { settings, knowledge, store, guarded, archive, failures, log, warnings, nowMs } = options
  const { limits } = settings
  const rememberedBytes = (limits.remembered_mb * 1024 * 1024) / 2
  const cache = createMadeCache({ bytesMax: rememberedBytes })
  const summaries = openSummaries({
    ...options,
    cache,
    mentioned: settings.archive.mention ? archive : null,
    onWritten: options.onSummary,
  })
  const records = createRecords(store, guarded)
  const requestedCompactions = createRequestedCompactions(store, guarded)
  const lastBodies = createLastBodies({ bytesMax: limits.last_bodies_mb * 1024 * 1024 })
  const handle = createHandle({
    ...options,
    ...knowledge,
    poolOf: createSharedPools(),
    summaries,
    cache,
    records,
    requestedCompactions,
    usageInStreams: settings.usage.in_streams,
    asksForErrors: settings.ollama.ask_for_errors,
    measure: createMeasure(knowledge, warnings.guessed),
    keepTaken: createArchiving(archive, { cache, failures, nowMs }),
    recallOffer: createRecallOffers(),
    prefixCause: createPrefixCauses(),
    heavyWork: createHeavyWork({ bytesMin: HEAVY_BYTES_MIN }),
    reading: {
      readFacts: createFactsReader(digest, { entriesMax: Math.floor(rememberedBytes / FACTS_BYTES) }),
      limits: readLimits(limits),
      lastBodies,
    },
    onRepaired: (repairs) => log.debug('a conversation was repaired', repairs),
  })
  return {
    handle,
    requestedCompactions,
    /** Forgets a conversation's summaries, with whether there were any, and all that was read of any conversation. */
    forget: (conversation: string): Promise<boolean> => {
      // No id leads to a body or to what was read: all of it goes, and the next request of each conversation is read
      // as a whole.
      lastBodies.clear()
      records.forgetRead()
      requestedCompactions.forget(conversation)
      return summaries.writer.forget(conversation)
    },
    close: summaries.writer.close,
  }
}

// --- internal ---

/** From so many new bytes on a conversation waits until another has been measured: some tens of milliseconds of work. */
const HEAVY_BYTES_MIN = 512 * 1024

/** What is remembered of a message of usual size, in bytes: no content. */
const FACTS_BYTES = 640
