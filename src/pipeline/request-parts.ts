import type { Failures } from '../telemetry/failures.ts'
import type { Reports } from '../telemetry/request-report.ts'
import type { MadeCache } from '../compaction/made-cache.ts'
import type { Repairs } from '../formats/contract.ts'
import type { Warnings } from '../telemetry/log/warnings.ts'
import type { ModelKnowledge } from '../models/open-models.ts'
import type { Profile } from '../profiles/schema.ts'
import type { KeepTaken } from '../archive/archiving.ts'
import type { RecallOffers } from './recall/recall-offer.ts'
import type { SummaryParts } from './summaries/open-summaries.ts'
import type { HeavyWork } from '../scheduling/heavy-work.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { createMeasure } from './measure/measure.ts'
import type { ReadChatOptions } from './read/read-chat.ts'
import type { createRequestedCompactions } from './records/requested-compactions.ts'
import type { createSharedPools } from './send/shared-pool.ts'
import type { Records } from './records/records.ts'
import type { Send } from './request.ts'
import type { createPrefixCauses } from './tell/prefix-cause.ts'

/** What the stages of a request work with: the same for every request. */
export type RequestParts = ModelKnowledge & {
  /** The profiles in force; they may change while the app runs. */
  readonly profiles: () => ReadonlyMap<string, Profile>
  readonly heavyWork: HeavyWork
  readonly reading: ReadChatOptions
  readonly upstreams: Upstreams
  /** The requests under way at an upstream. */
  readonly poolOf: ReturnType<typeof createSharedPools>
  readonly records: Records
  readonly requestedCompactions: ReturnType<typeof createRequestedCompactions>
  readonly measure: ReturnType<typeof createMeasure>
  /** Previews, recaps and the like that were made of late. */
  readonly cache: MadeCache
  /** Keeps what a compaction takes away, before the compaction is recorded and anything is sent. */
  readonly keepTaken: KeepTaken
  readonly summaries: SummaryParts
  readonly recallOffer: RecallOffers
  /** Whose doing it is if thoughts stand behind another prefix. */
  readonly prefixCause: ReturnType<typeof createPrefixCauses>
  /** When the usage of a streamed answer is asked for; `rewritten`: if the body differs from the client's anyway. */
  readonly usageInStreams: 'rewritten' | 'never' | 'always'
  /** Whether servers that cut prompts without a word are asked to refuse them (`ollama.ask_for_errors`). */
  readonly asksForErrors: boolean
  readonly failures: Failures
  readonly warnings: Warnings
  readonly reports: Reports
  readonly nowMs: () => number
  /** Called for every request in which something was repaired. */
  readonly onRepaired: (repairs: Repairs) => void
}

/** The ways of sending a form of a request, made once of the parts (`send/send-request.ts`). */
export type Senders = {
  /** With all that helps after a refusal. */
  readonly send: Send
  /** As it is. */
  readonly once: Send
  /** To a larger model: with as little around it as an answer and the knowledge of its usage need. */
  readonly fallback: Send
}

/** What the stages that send and reply work with. */
export type SendingParts = RequestParts & { readonly senders: Senders }
