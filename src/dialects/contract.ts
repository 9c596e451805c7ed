import type { BodyFault, BodyLimits, EntrySpan, KnownHistory, ValueSpan } from '../conversation/body-scan.ts'
import type { JsonObject } from '../conversation/json-value.ts'
import type { Meaning } from '../conversation/keys.ts'
import type { Media, Message, MessageFacts, ParsedMessage } from '../conversation/message.ts'
import type { Digest, Source, Span, Steps } from '../conversation/source.ts'
import type { ViewItem } from '../conversation/splice.ts'
import type { ServerEvent } from './event-reader.ts'

/**
 * All that is known of one wire format. Code outside of `src/dialects` works with entries, their facts and their slots, and
 * asks the dialect of its request for everything that has a name on the wire. Each dialect is a folder of its own, listed in
 * `dialects.ts`; `test/contracts/dialect-contract.ts` is the suite that each passes.
 */
export type Dialect = {
  /** `chat-completions`, for example. */
  readonly name: string
  /** The ends of the paths, under any prefix, to which its conversations are posted. */
  readonly paths: readonly string[]
  readonly bodies: Bodies
  readonly entries: Entries
  readonly rules: Rules
  readonly answers: Answers
  readonly replies: Replies
  readonly summaries: SummaryCalls
  readonly recall: RecallTools
}

// --- bodies ---

/** Reads the body of a request around the entries of its history. */
export type Bodies = {
  /** The fields that a client key confined to profiles may send: all that are known to choose no other model. */
  readonly knownFields: ReadonlySet<string>
  /** Where the bracket of the history stands, as far as the beginning of a body tells; null if it is not near. Never throws. */
  readonly findHistory: (source: Source) => number | null
  /**
   * Reads a body without parsing it as a whole: all of it is scanned, so that it is known to be JSON, and only the values
   * that decide how the request is treated are parsed. A history that is `known` is passed over. Never throws.
   */
  readonly read: (
    source: Source,
    limits: BodyLimits,
    known: KnownHistory | null,
  ) => Steps<{ readonly read: true; readonly body: BodyFacts } | NotRead>
}

/** What Foldgate reads of a body. Everything else in it is relayed as it stands. */
export type BodyFacts = {
  readonly model: string | null
  /** The keys of the body, decoded. */
  readonly fieldNames: readonly string[]
  readonly isStreamed: boolean
  /** The array that holds the entries, with its brackets. */
  readonly history: Span
  /** Its elements but for those that were known: delimited, not yet parsed. */
  readonly entrySpans: readonly EntrySpan[]
  /** The most tokens that the reply may have, and where that number stands; null if none is set. */
  readonly outputLimit: { readonly field: string; readonly tokens: number; readonly value: Span } | null
  /** How many replies are asked for. */
  readonly repliesWanted: number
  /** The list of tools, to which one can be added; null if there is none. */
  readonly tools: ValueSpan | null
  /** An older form of the list of tools. */
  readonly legacyTools: ValueSpan | null
  /** The schema that the reply has to keep to. */
  readonly schema: ValueSpan | null
  /** Whether the reply has to call a tool. */
  readonly isToolForced: boolean
  /** Whether the client gets to see the usage of a streamed reply. */
  readonly showsUsage: boolean
  /** What makes a stream state its usage; null if the client has decided that, wants no stream, or need not ask. */
  readonly usageRequest: BodyEdit | null
  /** What makes the request one for a plain answer; null if it is one. */
  readonly withoutStreaming: readonly BodyEdit[] | null
}

/** A text in the place of some bytes of a body. */
export type BodyEdit = { readonly at: Span; readonly text: string }

/** Why a body was not read. `message-unreadable` is for the caller, who reads the entries. */
export type NotReadReason =
  | Exclude<BodyFault, 'no-json'>
  | 'bom'
  | 'not-json-object'
  | 'duplicate-key'
  | 'invalid-value'
  | 'no-messages'
  | 'message-unreadable'

export type NotRead = { readonly read: false; readonly reason: NotReadReason }

// --- entries ---

/** Reads and writes the entries of a history. */
export type Entries = {
  /** What a parsed entry is; null if that cannot be told with certainty. `unreadBytes`: see `Described`. */
  readonly describe: (
    entry: JsonObject,
    digest: Digest,
    unreadBytes: (text: string) => number,
  ) => Steps<Described | null>
  /** The texts of a parsed entry. */
  readonly parse: (entry: JsonObject) => ParsedMessage
  /** The slots of an entry that may be written anew, `parsed` being what was read of it. */
  readonly slots: (source: Source, entry: Span, parsed: ParsedMessage) => Steps<readonly Slot[]>
  /**
   * The entry with other texts in some of its slots; everything else keeps its bytes, but that `media: 'drop'` takes out all
   * media beside the texts.
   */
  readonly edited: (
    source: Source,
    entry: Span,
    texts: ReadonlyMap<Slot, string>,
    media: 'keep' | 'drop',
  ) => Steps<string>
  /**
   * The entry with only its last `kept` media, and a mark in the place of the first of the others; `text` is what it says
   * then. Null if nothing goes.
   */
  readonly withoutMedia: (
    source: Source,
    entry: Span,
    kept: number,
    mark: string,
  ) => Steps<{ readonly json: string; readonly text: string } | null>
  /** A user's entry that says a text. */
  readonly user: (text: string) => string
  /**
   * Users' entries as one, with the fields of the one at `base` and the type of its content; their texts keep their encoding.
   * Null if one of them has no content that can be joined.
   */
  readonly joined: (entries: readonly string[], base: number) => string | null
}

/** What a dialect knows of an entry: what its facts are made of. */
export type Described = Pick<
  MessageFacts,
  'role' | 'opensReply' | 'boundToNext' | 'emptyCalls' | 'answers' | 'name'
> & {
  readonly calls: ParsedMessage['calls']
  /** The role as it is written, and its content in order. */
  readonly meaning: Omit<Meaning, 'name' | 'calls'>
  /** Sizes of media include the bytes that were not read of them, which `unreadBytes` tells of a text. */
  readonly media: readonly Media[]
}

/** A place in an entry that a pass may write anew. */
export type Slot = {
  readonly kind: 'text' | 'result' | 'thought' | 'arguments'
  /** What stands there, decoded. */
  readonly text: string
  /** Whether that is JSON, which has to stay JSON. */
  readonly isJson: boolean
  /** Where the values stand: several, if a server writes the same thoughts in several fields. */
  readonly spans: readonly Span[]
  /** How a new text is written: as a string of JSON, as the JSON that it is, or as a part among others. */
  readonly writtenAs: 'string' | 'json' | 'part'
}

// --- rules ---

/** What makes a sequence of entries valid, and how a broken one is mended. */
export type Rules = {
  /** Where a sequence breaks the rules, ascending. */
  readonly violations: (entries: readonly EntryShape[], template: Template) => Steps<readonly Violation[]>
  /**
   * A broken conversation as one that obeys the rules of calls and results; null if there is nothing to repair. What was
   * made of a prefix stays as the conversation grows (P5).
   */
  readonly repair: (source: Source, entries: readonly Message[]) => Steps<Repaired | null>
}

/** What the rules look at; the facts of an entry are one. */
export type EntryShape = Pick<MessageFacts, 'role' | 'callIds' | 'answers' | 'emptyCalls'>

/**
 * `lenient`: what the makers of the dialect demand. `strict`: what the chat templates of many open models demand on top: one
 * system message, at the beginning; then a user message; then assistant and user in turns, tool rounds aside.
 */
export type Template = 'lenient' | 'strict'

export type Violation = {
  /** The entry that breaks the rule: for an unanswered call, the one that makes it. */
  readonly index: number
  readonly rule: Rule
  readonly message: string
}

export type Rule =
  | 'call-unanswered'
  | 'calls-emptied'
  | 'result-orphaned'
  | 'system-misplaced'
  | 'user-preceded'
  | 'role-repeated'

/** What was repaired, and how often. */
export type Repairs = {
  /** Calls that got a result. */
  readonly answered: number
  /** Results without an id that got the one of their call. */
  readonly paired: number
  /** Results that became text. */
  readonly orphans: number
  /** Empty lists of calls that were taken out. */
  readonly emptied: number
}

export type Repaired = {
  readonly items: readonly ViewItem[]
  /** Which of the items are user messages that stand for results: nobody said them. */
  readonly standIns: ReadonlySet<number>
  readonly repairs: Repairs
}

// --- answers ---

/** Reads what a server answers. */
export type Answers = {
  /** What matters of a plain answer's parsed body; null if it is neither an object nor a list. */
  readonly read: (body: unknown) => AnswerFacts | null
  /** The same of an event of a streamed answer. */
  readonly event: (event: ServerEvent) => AnswerEvent
  /** Only events whose data match it say more than a piece of the reply. */
  readonly telling: RegExp
  /** A plain answer as the stream of events that says the same; null if there is no output in it. */
  readonly asStream: (body: unknown) => { readonly text: string; readonly statesUsage: boolean } | null
  /** Takes the usage that only Foldgate asked for out of a stream. */
  readonly usageHider: () => UsageHider
}

export type AnswerFacts = {
  /** Content, reasoning, a refusal, audio or a call: something that a client may already show. */
  readonly hasOutput: boolean
  readonly finish: Finish | null
  readonly usage: Usage | null
  readonly model: string | null
  /** The server says that it is Ollama, which cuts prompts to its window without a word. */
  readonly isOllama: boolean
  /** What states an error instead of, or beside, an answer; null if nothing does. */
  readonly error: unknown
}

/** Why a reply ended. `window`: the window was full; `filtered`: a policy ended it; `other`: a reason of the server's own. */
export type Finish = 'end' | 'length' | 'calls' | 'filtered' | 'window' | 'error' | 'other'

/** The token counts of an answer, in the server's tokens. */
export type Usage = {
  /** Includes what was read from the provider's prompt cache. */
  readonly promptTokens: number
  readonly completionTokens: number | null
  readonly cachedTokens: number | null
}

/** `unknown`: nothing that can be read, though it is not empty. */
export type AnswerEvent =
  | { readonly kind: 'facts'; readonly facts: AnswerFacts }
  | { readonly kind: 'error'; readonly said: string }
  | { readonly kind: 'done' | 'empty' | 'unknown' }

/**
 * Makes of a stream that was asked for usage the one that was not. Events are texts of one character a byte, each with the
 * blank line at its end.
 */
export type UsageHider = {
  /** Takes an event; returns what goes on now, the very event if it goes on as it came. */
  readonly take: (event: string) => readonly string[]
  /** Takes a line feed that belongs to the end of the event before it. */
  readonly takeLineFeed: (lineFeed: string) => string
  /** What is held back, where it cannot wait any longer. */
  readonly release: () => string
}

// --- replies ---

/** Makes one reply of several answers, and asks a model to go on. */
export type Replies = {
  /** The reply in a plain answer; null unless there is exactly one. */
  readonly read: (body: unknown) => Reply | null
  readonly plain: (rules: CallRules) => PlainReply
  readonly stream: <Event extends StreamEvent>(rules: CallRules) => ReplyStream<Event>
  /** Whether an event is the last word of a stream. */
  readonly isDone: (event: string) => boolean
  /** An error, given as parsed JSON, as the event of a stream. */
  readonly errorEvent: (error: JsonObject) => string
  /**
   * The entries by which a model goes on after its calls were answered. `round` says how often that was done for one reply:
   * calls without ids get ones of ours, which no two have.
   */
  readonly answeredCalls: (
    said: string,
    reply: Reply,
    answered: readonly AnsweredCall[],
    round: number,
  ) => readonly string[]
  /** The entries by which a model goes on with what it `said`, as it is `asked` to. */
  readonly goOn: (said: string, asked: string) => readonly string[]
}

/** Joins the text of a further answer to what was said before. */
export type Seam = {
  /** Takes a piece of it, cut anywhere; returns what the reader gets by now. */
  readonly feed: (text: string) => string
  /** What was held back and turned out to be text. */
  readonly end: () => string
}

/** What a model answered to one request, plain or streamed. */
export type Reply = {
  /** Its text; null if its content is something else than text. */
  readonly text: string | null
  /** Fields that some servers want back with it: thoughts, signatures. */
  readonly kept: JsonObject
  /** The calls in their order, as they came. */
  readonly calls: readonly ReplyCall[]
  readonly finish: Finish | null
  readonly hasRefusal: boolean
  /** As it was stated; null if it was not. */
  readonly usage: JsonObject | null
}

export type ReplyCall = {
  readonly id: string
  readonly name: string
  readonly argumentsText: string
  /** Whether its arguments end in the middle. */
  readonly isIncomplete: boolean
  /** The call as it came, or as its pieces add up. */
  readonly json: JsonObject
}

/** A call of Foldgate's tool, and what it is answered with. */
export type AnsweredCall = { readonly call: ReplyCall; readonly answer: string }

/** What is done with calls of a reply, before the client gets to see it. */
export type CallRules = {
  /** The name of the tool that Foldgate answers; null if it was not offered. */
  readonly toolName: string | null
  /** Whether a reply that was cut may be continued. */
  readonly continues: boolean
}

/** One plain reply for the client, made of one answer or of several that go on from each other. */
export type PlainReply = {
  /** Takes an answer's body: what it says, with its text as the client will see it; null if nobody can go on from it. */
  readonly take: (body: unknown) => Reply | null
  /** A further answer follows, whose text is joined by the seam. */
  readonly goOn: (seam: Seam) => void
  /** The body that the client gets; null if that is the one that came. */
  readonly finish: () => JsonObject | null
  /** The usage of all answers so far; null if none was stated. */
  readonly usage: () => Usage | null
}

/** An event as it came. Whoever holds its bytes gets this very object back if it goes on unchanged. */
export type StreamEvent = { readonly text: string }

/** One streamed reply for the client, made of one answer or of several that go on from each other. */
export type ReplyStream<Event extends StreamEvent> = {
  /** Takes an event of the answer that flows; returns what the client gets now: events as they came, or new ones. */
  readonly take: (event: Event) => readonly (Event | string)[]
  /**
   * The answer has ended: what it said, and what the client gets of it now. `reply` is null if nobody can go on from it: it
   * failed, or was not understood.
   */
  readonly ended: () => { readonly reply: Reply | null; readonly shown: readonly (Event | string)[] }
  /** What was held back, if no further answer follows. */
  readonly finish: () => readonly (Event | string)[]
  /**
   * What is missing of the end of a reply whose further answer broke off: it stands as one that was cut, unless its end
   * was there. Null if nothing can be said.
   */
  readonly cut: () => readonly string[] | null
  /** A further answer follows, whose text is joined by the seam. What was held back is not wanted any more. */
  readonly goOn: (seam: Seam) => void
  /** The usage of all answers so far; null if none was stated. */
  readonly usage: () => Usage | null
}

// --- summaries ---

/** Asks a model of this dialect for a summary. */
export type SummaryCalls = {
  /** The fields under which the limit of the output may stand, the one first that more servers take. */
  readonly limitFields: readonly [string, ...string[]]
  /** Fields of the call that are not the operator's: with another value it is no summary any more, or cannot be read. */
  readonly ownFields: ReadonlySet<string>
  /** The field that holds what is asked. A system text may stand in the user's entry, for servers that take no other. */
  readonly asked: (system: string, user: string, systemPlace: 'own' | 'user') => JsonObject
  /**
   * A client's own body with other `entries`, `fields` beside them and one more tool: asked so, a server reads the
   * conversation from its cache. What belongs to the client's own answer is left out.
   */
  readonly continued: (
    body: JsonObject,
    entries: readonly string[],
    tool: JsonObject | null,
    fields: JsonObject,
  ) => string
  /** What was written in a plain answer; null if there is no place for it. */
  readonly read: (body: unknown) => Written | null
}

export type Written = {
  readonly text: string
  readonly hasThoughts: boolean
  readonly hasCalls: boolean
  readonly hasRefusal: boolean
}

// --- recall ---

/** How a tool of Foldgate's stands beside the client's. */
export type RecallTools = {
  /** The tool as an element of a list of tools. */
  readonly tool: (tool: RecallTool) => JsonObject
  /** The names that the tools of a list take, whatever their kind. */
  readonly namesIn: (tools: readonly unknown[]) => readonly string[]
}

export type RecallTool = {
  readonly name: string
  readonly description: string
  /** Of its arguments, as a JSON schema has them. */
  readonly properties: JsonObject
}
