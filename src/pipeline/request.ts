import type { Compacted } from '../compaction/compact.ts'
import type { ModelKey } from '../models/model-record.ts'
import type { Profile } from '../profiles/schema.ts'
import type { CountedModel } from '../models/counts/counts.ts'
import type { Message } from '../conversation/message.ts'
import type { PassName } from '../compaction/passes/passes.ts'
import type { Room } from '../tokens/budget.ts'
import type { AnswerFacts, ThoughtRefusal, Usage } from '../formats/answer-contract.ts'
import type { BodyFacts, Dialect, NotReadReason, Repairs } from '../formats/contract.ts'
import type { BodyPiece } from '../json/splice.ts'
import type { Growth } from '../conversation/structure.ts'
import type { HeavyTurn } from '../scheduling/heavy-work.ts'
import type { History } from '../compaction/history/history.ts'
import type { Anchor, Rate } from '../models/counts/counted-prompt.ts'
import type { Compaction } from '../compaction/compaction.ts'
import type { KeyedConversation, RecordPlace, SummaryOutlook } from '../summaries/summary-record.ts'
import type { ClientRequest, RequestBody } from './client-request.ts'
import type { Classification } from '../overflow/classification.ts'
import type { Answer } from '../upstream/upstreams.ts'
import type { RequestOptions } from './request-options.ts'
import type { FoundRequest, KeyedRequest } from './records/identify-conversation.ts'
import type { TailReport } from '../overflow/tail-observer.ts'
import type { WindowQuestion } from '../models/discovery/ask-json.ts'
import type { Arrival } from './bare-report.ts'
import type { Source } from '../json/source.ts'
import type { ResolvedWindow } from '../models/resolve-window.ts'
import type { JsonObject } from '../json/json-value.ts'

/** A conversation in the body of a request, read with certainty. */
export type Chat = KeyedConversation & {
  /** The bytes that were read: the client's, without their content coding, or repaired. */
  readonly bytes: Buffer
  readonly source: Source
  readonly dialect: Dialect
  readonly body: BodyFacts
  /** The conversation that it was found to go on from, in whole or in part; null where none was. */
  readonly grewFrom: Growth | null
  /** The messages as they are where signed thoughts in them are bound; left out where they are read so, or there are none. */
  readonly signedMessages?: readonly Message[]
  /** What was repaired in it; null where it is the client's own. */
  readonly repairs: Repairs | null
}

/** A request whose body has arrived. */
export type ArrivedRequest = {
  readonly exchange: ClientRequest
  /** The wire format that it speaks. */
  readonly dialect: Dialect
  readonly options: RequestOptions
  readonly body: RequestBody
  /** When the body had arrived. */
  readonly arrival: Arrival
  /** Its turn among those of which much is new: given up while it waits for a model or a server. */
  readonly turn: HeavyTurn
}

/** Why a body is relayed as it came. */
export type UnreadReason = NotReadReason | 'encoding' | 'not-utf8' | 'failed'

/** A request that was read, with all that decides how it is treated. */
export type ReadRequest = ArrivedRequest & {
  /** The conversation that is worked on: the client's, or the same repaired. */
  readonly chat: Chat
  /** The client's own. */
  readonly received: Chat
  readonly profile: Profile
  /** Whether that only observes since the request is a subscription's. */
  readonly isSubscription: boolean
  /** Whether a line for billing is taken out of it. */
  readonly blanksBilling: boolean
  readonly model: string
  /** The model's name that takes the place of the client's own in the body; null if that stands. */
  readonly renamedTo: string | null
  /** The deployment that an Azure path names; null for any other path. */
  readonly deployment: string | null
  /** The upstream that it goes to; null for the default. */
  readonly upstreamName: string | null
  /** What windows and placements are learnt for. */
  readonly modelKey: ModelKey
  /** What a server is asked about the model, with the client's own credential. */
  readonly question: WindowQuestion
  /** Under whose records it is found again. */
  readonly place: RecordPlace
  /** The tool that is offered to the model beside the client's; null where none is. */
  readonly recall: RecallOffer | null
}

/** A request with what is on record of its conversation, and its size. */
export type MeasuredRequest = ReadRequest & {
  readonly remembered: Remembered
  /** Why nothing is to be rewritten, whatever its size; null where it may be. */
  readonly whyUntouched: string | null
  /** Whether a compaction is asked for, whatever the pressure. */
  readonly isForced: boolean
  /** Null where measuring failed. */
  readonly measure: Measure | null
}

/** A request that is ready to be sent. */
export type PreparedRequest = MeasuredRequest & {
  /** The form that is sent first. */
  readonly form: Form
  /** The part that failed, where the original bytes are sent on account of it. */
  readonly failedOpen: string | null
  /** How things stand with the summary that the conversation will need next. */
  readonly outlook: SummaryOutlook
  /** The names of the summaries that a compaction took which was made for this request. */
  readonly summaries: readonly string[]
  /** What would be sent, were the profile not one that only observes; null under any other. */
  readonly observed: Observed | null
}

/** What would have been sent under a profile that only observes. */
export type Observed = { readonly passes: readonly PassName[]; readonly sentTokens: number }

/** The tool with which a model reads back what was folded, as one request offers it. */
export type RecallOffer = { readonly name: string; readonly tool: JsonObject }

/** The records of a conversation. */
export type Remembered = {
  /** The conversation's id: its meaning key at first sight. */
  readonly conversation: string
  /** Whether that stands on record. */
  readonly isKnown: boolean
  /** The conversation that it branched off; null where it did not. */
  readonly parent: string | null
  /** The newest compaction that is a prefix of it; null where there is none. */
  readonly compaction: Compaction | null
  /** The newest request of it that is on record, which may be this very one, or a beginning of one; null where there is none. */
  readonly found: FoundRequest | null
  /** Up to where it was sent before, under a compaction that is on record or under none; null where that is not known. */
  readonly seenUntil: number | null
  /**
   * Up to which message it is the conversation that was seen before, where its end was edited: what was said of the
   * earlier end is no part of it. Null where it goes on from a whole request, or was never seen.
   */
  readonly sharedUntil: number | null
  /** Seen requests that say something else from this request on. */
  readonly changed: readonly KeyedRequest[]
}

/** How a request presses against its model's window. */
export type Measure = {
  readonly window: ResolvedWindow
  readonly rate: Rate
  /** The family's ratio, whatever was learnt. */
  readonly familyRatio: number
  /** Whose counts are compared with ours, and by which encoding we count. */
  readonly counting: CountedModel
  /** Window less reserve, in our tokens. */
  readonly budgetTokens: number
  /** The counted conversation; null where counting was not needed. */
  readonly counted: Counted | null
  /** Own count of the prompt as it came in; an upper bound where nothing was counted. */
  readonly incomingTokens: number
  /** Prompt divided by budget. */
  readonly pressure: number
}

export type Counted = ConversationTokens & {
  readonly room: Room
  /** What the provider is known to have counted of what is sent under `compaction`; null where nothing. */
  readonly anchor: Anchor | null
  /** Our count of all messages but the leading system block, as they came. */
  readonly conversationTokens: number
  /** The newest compaction on record. */
  readonly compaction: Compaction | null
  /** How much more the provider has counted of the prompt under `compaction` than we did, in our tokens; may be below zero. */
  readonly differenceTokens: number
}

/** A conversation with the counts of its parts, in our tokens. */
export type ConversationTokens = {
  readonly history: History
  /** The leading system block, tools, schemas and priming. */
  readonly aroundTokens: number
  /** Of these, tools and schemas. */
  readonly toolsTokens: number
  /** How much more tools and schemas cost where they are put into the prompt as JSON. */
  readonly toolsMarginTokens: number
  /** Of each message, in their order. */
  readonly perMessage: readonly MessageTokens[]
  /** How many of them were counted by samples, in part. */
  readonly sampledMessages: number
}

/** The tokens of a message by our count, framing included. */
export type MessageTokens = {
  readonly tokens: number
  /** Of these, what was estimated from pixels and bytes. */
  readonly mediaTokens: number
  /** Of these, thoughts that are sent back, which a provider may count otherwise, or not at all. */
  readonly thoughtTokens: number
  /** Of these, thoughts that are bound to what stood before them, if the message holds more than those. */
  readonly boundTokens: number
}

/** What forms of a request are made of. */
export type FormRequest = Pick<MeasuredRequest, 'chat' | 'profile' | 'place'> & {
  readonly remembered: Pick<Remembered, 'conversation' | 'compaction' | 'seenUntil' | 'sharedUntil'>
  /** Whether user messages that would stand side by side are joined. */
  readonly strict: boolean
}

/** A form in which a request can be sent: the client's own bytes, or a view of its conversation. */
export type Form = {
  /** The conversation whose bytes `pieces` are made of. */
  readonly chat: Chat
  readonly pieces: readonly BodyPiece[]
  /** The view and its compaction; null if the original messages are sent. */
  readonly compacted: Compacted | null
  /** Whether `pieces` differ from the client's bytes. */
  readonly isRewritten: boolean
  /** Whether user messages were joined. */
  readonly strict: boolean
  /** The output limit that was lowered to this; null where the request's own stands. */
  readonly clampedOutputTokens: number | null
  /** Own count of the prompt, or its upper bound where nothing was counted. */
  readonly sentTokens: number
  /** The compaction that was made for it; null where it stands in one on record, or in none. */
  readonly made: {
    readonly compaction: Compaction
    /** Own count of what would have been sent without it. */
    readonly tokensBefore: number
    readonly milliseconds: number
  } | null
}

/** An answer and what it means. Pieces that were taken from its body to find out are `held`. */
export type Judged = {
  readonly answer: Answer
  readonly held: readonly Buffer[]
  /**
   * `good`: output, or anything that is passed on as it is; `refused`: an error that has begun no output; `empty`: a
   * stream that has ended with nothing, which may be an overflow.
   */
  readonly verdict: 'good' | 'overflow' | 'refused' | 'empty'
  readonly classification: Classification | null
  /** What a plain answer says all of which is held; left out of any other. */
  readonly facts?: AnswerFacts
}

/** The last answer of a request, and the form that it answers. */
export type Outcome = Judged & {
  readonly form: Form
  /** From when it was sent until the headers of its answer, in milliseconds. */
  readonly firstByteMs: number
  /** The help that it needed beyond sending. */
  readonly remedy: 'none' | 'waited' | 'recovered' | 'restored'
  /** What was refused of the request's thoughts before another form was accepted; left out if nothing was. */
  readonly refusedThoughts?: ThoughtRefusal
  /** What became of it at the larger model that its profile names (`overflow.fallback`); left out if it was not sent there. */
  readonly fallback?: {
    readonly model: string
    readonly upstream: string
    /** The request as it was sent there, if the answer is that model's; null if that refused it, too. */
    readonly answered: PreparedRequest | null
    /** The status that it was refused with there; null if it was answered, or there was no answer. */
    readonly refusedWith: number | null
  }
  /** Whether the model was offered the recall tool. */
  readonly offersRecall: boolean
  /** Whether usage was asked for that the client had not asked for: the event with it is hidden from it. */
  readonly asksUsage: boolean
}

/** A request that is being sent, and what was found out about it on the way. */
export type Sending = {
  request: PreparedRequest
  /** The measure; with its count, as soon as somebody asked for that. */
  measure: Measure | null
  /** Upstream requests made so far. */
  attempts: number
  /** When the first of them was made, as `performance.now()` told. */
  firstSentAtMs: number
  /** Additions and forms that were refused once: they are not tried with another view of this request. */
  readonly refused: Set<'usage' | 'errors' | 'recall' | 'strict' | 'original'>
  /** Whether a form of it was refused as too long: then no form is so small that an answer may not say so, too. */
  wasTooLong: boolean
  /** Whether usage was asked for and that may be why the form was refused, although the refusal did not say so. */
  isUsageSuspected: boolean
  /** Whether a reply has begun whose thoughts hold behind the form that it answers, and behind no other. */
  isReplyBound: boolean
}

/**
 * Sends a form of a request and tells what the answer means. Additions to what is sent are wrappers: each takes such a
 * function and gives one of the same type.
 */
export type Send = (form: Form, sending: Sending) => Promise<Outcome>

/** A request whose answer is settled on. */
export type AnsweredRequest = PreparedRequest & {
  readonly outcome: Outcome
  /** The state in which more can be sent for it. */
  readonly sending: Sending
}

/** A request whose reply is known to take one answer, or several. */
export type RepliedRequest = AnsweredRequest & {
  /** Null if the reply is the answer that came. */
  readonly joined: JoinedReply | null
}

/** A reply that may take several answers, as one answer for the client. */
export type JoinedReply = {
  readonly outcome: Outcome
  /** Whether it may still go on while it flows. */
  readonly isOpen: boolean
  /** What reads along with the first answer: what it states of its prompt is said of what was measured. */
  readonly observer: AnswerObserver
  /** How often it went on, and what all of its answers cost; null if none stated that. For the end. */
  readonly total: () => ReplyCounts & { readonly usage: Usage | null }
}

/** Reads along while an answer is passed on. */
export type AnswerObserver = {
  readonly tap: (piece: Buffer) => void
  /** What the answer turned out to be; null where it could not be read. */
  readonly end: () => TailReport | null
}

/** How often the model read back what was folded, and how often it went on with a reply that was cut. */
export type ReplyCounts = { readonly recalls: number; readonly continuations: number }
