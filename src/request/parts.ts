import type { Failures } from '../activity/failures.ts'
import type { Reports } from '../activity/request-report.ts'
import type { MadeCache } from '../compaction/made-cache.ts'
import type { Repairs } from '../dialects/chat-completions/repair/repair.ts'
import type { FoldgateError } from '../errors.ts'
import type { ClientRights } from '../http/confinement.ts'
import type { ReadBodyOptions } from '../http/read-body.ts'
import type { Relay } from '../http/relay.ts'
import type { AcceptedCredentials } from '../models/accepted-credentials.ts'
import type { Learning } from '../models/learn.ts'
import type { Models } from '../models/models.ts'
import type { ResolvedWindow } from '../models/resolve-window.ts'
import type { ServerWindows } from '../models/discovery/server-windows.ts'
import type { Windows } from '../models/windows.ts'
import type { Profile } from '../profiles/schema.ts'
import type { KeepTaken } from '../archive/archiving.ts'
import type { RecallOffers } from '../proxy/recall/recall-offer.ts'
import type { RateLimits } from '../summaries/rate-limits.ts'
import type { Summarizer } from './summaries/summarizer.ts'
import type { HeavyWork } from '../scheduling/heavy-work.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { MeasureRequest } from './measure/measure.ts'
import type { ReadChatOptions } from './read/read-chat.ts'
import type { CompactWishes } from './records/compact-wishes.ts'
import type { Records } from './records/records.ts'
import type { Measure, ReadRequest, Send } from './request.ts'

/** What the stages of a request work with: the same for every request. */
export type RequestParts = {
  /** The profiles in force; they may change while the app runs. */
  readonly profiles: () => ReadonlyMap<string, Profile>
  /** What a client key may do; null for a client without one. */
  readonly rightsOf: (clientKeyName: string | null) => ClientRights | null
  readonly bodyLimits: ReadBodyOptions
  readonly heavyWork: HeavyWork
  readonly reading: ReadChatOptions
  readonly upstreams: Upstreams
  readonly relay: Relay
  readonly models: Models
  readonly windows: Windows
  readonly serverWindows: ServerWindows
  readonly accepted: AcceptedCredentials
  readonly learning: Learning
  readonly records: Records
  readonly compactWishes: CompactWishes
  readonly findWindow: (request: ReadRequest, conversation: string) => Promise<ResolvedWindow>
  readonly measure: (request: MeasureRequest) => Promise<Measure>
  /** Previews, recaps and the like that were made of late. */
  readonly cache: MadeCache
  /** Keeps what a compaction takes away, before the compaction is recorded and anything is sent. */
  readonly keepTaken: KeepTaken
  readonly summarizer: Summarizer
  readonly rateLimits: RateLimits
  readonly recallOffer: RecallOffers
  /** When the usage of a streamed answer is asked for; `rewritten`: if the body differs from the client's anyway. */
  readonly usageInStreams: 'rewritten' | 'never' | 'always'
  /** How long a client may take nothing of its answer, in milliseconds. */
  readonly stallMs: number
  readonly failures: Failures
  readonly reports: Reports
  readonly nowMs: () => number
  /** Called for every request in which something was repaired. */
  readonly onRepaired: (repairs: Repairs) => void
  /** Called when an answer broke off on its way. */
  readonly onFailure: (error: FoldgateError) => void
}

/** The ways of sending a form of a request, made once of the parts (`send/send-request.ts`). */
export type Senders = {
  /** With all that helps after a refusal. */
  readonly send: Send
  /** As it is. */
  readonly once: Send
}

/** What the stages that send and reply work with. */
export type SendingParts = RequestParts & { readonly senders: Senders }
