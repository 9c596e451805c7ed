import type {
  BodyFault,
  BodyMember,
  BodyScan,
  EntrySpan,
  HistoryKeys,
  ValueSpan,
} from '../json/body-spans.ts'
import type { JsonObject } from '../json/json-value.ts'
import type { Meaning } from '../conversation/prefix-keys.ts'
import type { CacheTtl, Media, Message, MessageFacts, ParsedMessage } from '../conversation/message.ts'
import type { Digest, Source, Span, Pausable } from '../json/source.ts'
import type { ViewItem } from '../json/splice.ts'
import type { ErrorBody } from '../errors.ts'
import type { Answers, Replies } from './answer-contract.ts'

/**
 * All that is known of one wire format. Code outside of `src/formats` works with entries, their facts and their slots, and
 * asks the dialect of its request for everything that has a name on the wire. Each dialect is a folder of its own, listed in
 * `formats.ts`; `test/contracts/dialect-contract.ts` is the suite that each passes.
 */
export type Dialect = {
  /** `chat-completions`, for example. */
  readonly name: string
  /** What people call an entry of its history. */
  readonly entryName: EntryName
  /** What makes a client send all of a conversation that it leaves at the server. Left out if there is nothing to leave. */
  readonly howToSendAll?: string
  /** The ends of the paths, under any prefix, to which its conversations are posted; a model is asked at the first. */
  readonly paths: readonly [string, ...string[]]
  readonly bodies: BodyShape
  readonly entries: Entries
  /** What makes a sequence of entries valid, and how a broken one is mended. */
  readonly rules: Rules
  readonly answers: Answers
  readonly replies: Replies
  readonly summaries: SummaryCalls
  /** A tool of Foldgate's as an element of a list of tools. */
  readonly recallTool: (tool: RecallTool) => JsonObject
  /**
   * Whether thoughts that are signed are taken only behind the conversation that they were made in, by the names of the model,
   * and whether it is asked at its vendor's own address: elsewhere a signature may bind nothing.
   */
  readonly bindsThoughts: (names: readonly string[], isAnthropic: boolean) => boolean
  /** How clients mark what a provider's prompt cache is to keep. Left out if they do not, or if Foldgate sets no mark of its own. */
  readonly cacheMarks?: CacheMarks
  /** An error of Foldgate's own, as its clients read one. */
  readonly errorBody: ErrorBody
}

/** What people call an entry. */
export type EntryName = 'message' | 'item' | 'block'

// --- bodies ---

/** How a dialect writes the body of a request. */
export type BodyShape = {
  readonly keys: HistoryKeys
  /** The fields that a client key confined to profiles may send: all that are known to choose no other model. */
  readonly knownFields: ReadonlySet<string>
  /** What is parsed for what it says; every other value only has to be JSON. */
  readonly readNames: ReadonlySet<string>
  /** The names of the limit of the output; the first of them that stands in a body counts. */
  readonly limitNames: readonly string[]
  /** Why a body is left as it is although it can be read; null if it is not. */
  readonly refusal?: (source: Source, members: BodyMembers) => NotReadReason | null
  /** The entry that a text is which stands for a whole history. Left out if no history is a text. */
  readonly fromText?: (text: string) => JsonObject
  /** Whether a body that was read is of this dialect and no other, where its path does not say so. Left out if nobody can tell. */
  readonly isSurelyOwn?: (source: Source, body: BodyFacts) => boolean
  /** The entries of the history, where they are others than the elements that were scanned. */
  readonly entries?: (source: Source, elements: readonly EntrySpan[]) => Pausable<readonly EntrySpan[]>
  /** What is not as it is by default. */
  readonly facts: (
    source: Source,
    members: BodyMembers,
    outputLimit: OutputLimit | null,
  ) => Partial<BodyFacts>
}

/** The members of a body by their names, and the values of those that are read. */
export type BodyMembers = Pick<BodyScan, 'history'> & {
  readonly members: readonly BodyMember[]
  readonly spans: ReadonlyMap<string, ValueSpan>
  readonly values: ReadonlyMap<string, unknown>
}

/** The most tokens that a reply may have, under which field, and where that number stands. */
export type OutputLimit = {
  readonly field: string
  readonly tokens: number
  readonly value: Span
  /** How many of them thinking may have: less than all of them, and no less than `tokensMin`. Left out if the body does not say. */
  readonly thinking?: { readonly tokens: number; readonly tokensMin: number; readonly value: Span }
}

/** What Foldgate reads of a body. Everything else in it is relayed as it stands. */
export type BodyFacts = {
  readonly model: string | null
  /** Where its name stands, or can be put in: an empty place, before the first key, if the body has none. */
  readonly modelPlace: Span
  /** The keys of the body, decoded. */
  readonly fieldNames: readonly string[]
  readonly isStreamed: boolean
  /** The array that holds the entries, with its brackets. */
  readonly history: Span
  /**
   * Whether the reply may be made of several answers: further entries can stand behind the history, and the server keeps no
   * answer under a name that a later request could give.
   */
  readonly canGoOn: boolean
  /** Its elements but for those that were known: delimited, not yet parsed. */
  readonly entrySpans: readonly EntrySpan[]
  /** The most tokens that the reply may have, and where that number stands; null if none is set. */
  readonly outputLimit: OutputLimit | null
  /** To how few tokens that limit may be lowered: a budget of thoughts has to be below it. */
  readonly outputLeastTokens: number
  /** How many replies are asked for. */
  readonly repliesWanted: number
  /** What is said beside the history as the operator's: it counts and is never touched. Null if nothing is. */
  readonly system: ValueSpan | null
  /**
   * What takes a line out of it that changes with each request, is read by the maker's billing and means nothing to a model;
   * null if there is none.
   */
  readonly billingLine: BodyEdit | null
  /** The list of tools, to which one can be added; null if there is none. */
  readonly tools: ValueSpan | null
  /** An older form of the list of tools. */
  readonly legacyTools: ValueSpan | null
  /** The schema that the reply has to keep to. */
  readonly schema: ValueSpan | null
  /** Whether the reply has to call a tool. */
  readonly isToolForced: boolean
  /** Whether it is to be refused if thoughts in it do not hold, by the client's own word. */
  readonly wantsStaleRefused: boolean
  /** Whether the client gets to see the usage of a streamed reply. */
  readonly showsUsage: boolean
  /** What makes a stream state its usage; null if the client has decided that, wants no stream, or need not ask. */
  readonly usageRequest: BodyEdit | null
  /** What makes the request one for a plain answer; null if it is one. */
  readonly withoutStreaming: readonly BodyEdit[] | null
  /** The window that the request has its server give the model; null if it does not say. */
  readonly windowTokens: number | null
  /** What the request says of how its model is loaded, beside other options; null if that stands nowhere. */
  readonly modelOptions: JsonObject | null
  /** What makes a server refuse a prompt that it would cut without a word; null if it is not to be asked. */
  readonly errorsRequest: BodyEdit | null
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
  /** The history, or a part of it, is kept at the server, or stands elsewhere than where the dialect has it. */
  | 'stateful'
  /** The client has the server compact it. */
  | 'native'

// --- entries ---

/** Reads and writes the entries of a history. */
export type Entries = {
  /**
   * What a parsed entry is; null if that cannot be told with certainty, and `stateful` if it stands for something that only the
   * server has. `skippedBytes`: see `Described`. `holder`: what it
   * stands in, as `{"role":"user","content":[]}` for a block of a message; null if it is an element of the history itself.
   */
  readonly describe: (
    entry: JsonObject,
    digest: Digest,
    skippedBytes: (text: string) => number,
    holder: JsonObject | null,
  ) => Pausable<Described | 'stateful' | null>
  /** The texts of a parsed entry. */
  readonly parse: (entry: JsonObject) => ParsedMessage
  /** The slots of an entry that may be written anew, `parsed` being what was read of it. */
  readonly slots: (source: Source, entry: Span, parsed: ParsedMessage) => Pausable<readonly Slot[]>
  /**
   * The entry with other texts in some of its slots; everything else keeps its bytes, but that of the media beside a text only
   * the last `mediaKept` stay.
   */
  readonly edited: (
    source: Source,
    entry: Span,
    texts: ReadonlyMap<Slot, string>,
    mediaKept: number,
  ) => Pausable<string>
  /**
   * The entry with only its last `kept` media, and a mark in the place of the first of the others; `text` is what it says
   * then. Null if nothing goes.
   */
  readonly withoutMedia: (
    source: Source,
    entry: Span,
    kept: number,
    mark: string,
  ) => Pausable<{ readonly json: string; readonly text: string } | null>
  /**
   * The entry, given as JSON, without the bound thoughts in it, and without what only holds together with such thoughts that
   * stood before it (`MessageFacts.bound`).
   */
  readonly unbound: (entry: string) => string
  /** A user's entry that says a text. */
  readonly user: (text: string) => string
  /**
   * Users' entries as one, with the fields of the one at `base` and the type of its content; their texts keep their encoding.
   * Null if one of them has no content that can be joined.
   */
  readonly joined: (entries: readonly string[], base: number) => string | null
  /** System messages as one, null where nothing is left to say. Left out if any number may stand in a row, wherever. */
  readonly joinedSystems?: (entries: Iterable<string>) => Pausable<string | null>
}

/** What a dialect knows of an entry: what its facts are made of. */
export type Described = {
  readonly facts: Pick<
    MessageFacts,
    'role' | 'joinsPrevious' | 'startsHistory' | 'bound' | 'survives' | 'cacheMarks' | 'kind' | 'failed'
  > &
    Partial<Pick<MessageFacts, 'emptyCalls'>>
  readonly answers: MessageFacts['answers']
  readonly meaning: Meaning
  /** Sizes of media include the bytes that were not read of them, which `skippedBytes` tells of a text. */
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

/** What a dialect demands of calls and their results. */
export type PairingRules = {
  /** Whether each entry of the model's is a reply of its own, and not one with those that stand beside it. */
  readonly entryIsReply: boolean
  /** Whether somebody may speak between a call and its result. */
  readonly mayInterrupt: boolean
}

/**
 * What a dialect demands of a history, and what a repair writes in it, as JSON. What is given to it and not changed stays as it
 * is spelt.
 */
export type Rules = PairingRules & {
  /** Whether a history may begin with the operator's words. */
  readonly systemMayLead: boolean
  /** Whether the results of a reply come first behind it. Left out if not. */
  readonly isSorted?: boolean
  /** The results of an entry's calls at `positions`, which have none; no call that takes more than words to be answered gets one. */
  readonly missing: (source: Source, entry: Message, positions: readonly number[]) => readonly string[]
  /** An entry of its own for such results, where they cannot stand without one that they stand beside. */
  readonly alone?: (results: readonly string[]) => string
  /** What a user says in the place of a result that answers no call: the mark, and what the result holds. */
  readonly standIn: (orphan: Orphan) => string
  /** A result without an id under that of a call. Left out if there are no such results. */
  readonly named?: (result: string, id: string) => string
  /** A result with orphans of its round behind it. Left out if they may stand there as a user's words. */
  readonly withOrphans?: (result: string, orphans: readonly Orphan[]) => string
  /** An entry without its empty list of calls. Left out if there are no such lists. */
  readonly withoutEmptyCalls?: (entry: string) => string
}

/** A result that answers no call, as JSON, and what is said of it. */
export type Orphan = { readonly mark: string; readonly json: string }

/** What the rules look at; the facts of an entry are one. */
export type EntryShape = Pick<MessageFacts, 'role' | 'callIds' | 'answers' | 'emptyCalls'>

/** The entry that breaks a rule: for an unanswered call, the one that makes it. */
export type Violation = { readonly index: number; readonly rule: Rule }

export type Rule = 'call-unanswered' | 'calls-emptied' | 'result-orphaned'

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

// --- summaries ---

/** Asks a model of this dialect for a summary. */
export type SummaryCalls = {
  /** Headers that a server wants of every request, by lower-case name, with what is sent if the client did not say it. */
  readonly headers: Readonly<Record<string, string>>
  /** The fields under which the limit of the output may stand, the one first that more servers take. */
  readonly limitFields: readonly [string, ...string[]]
  /** The value of such a field, if it is not the number: that among the options of the client's request. */
  readonly limit?: (tokens: number, options: JsonObject | null) => JsonObject
  /** Whether a server demands such a limit. Left out if none does. */
  readonly mustLimit?: boolean
  /** Fields of the call that are not the operator's: with another value it is no summary any more, or cannot be read. */
  readonly ownFields: ReadonlySet<string>
  /** The fields that hold what is asked; no system text is ''. */
  readonly asked: (system: string, user: string) => JsonObject
  /** Fields of a client's request that say what its own reply is to be: a call that goes on from it leaves them out. */
  readonly ofTheReply: ReadonlySet<string>
  /** What else such a call says by what stands in the client's body, and among its own fields. Left out if nothing. */
  readonly alsoSaid?: (body: JsonObject, fields: JsonObject) => JsonObject
  /** What was written in a plain answer; null if there is no place for it. */
  readonly read: (body: unknown) => Written | null
}

export type Written = {
  readonly text: string
  readonly hasThoughts: boolean
  readonly hasCalls: boolean
  readonly hasRefusal: boolean
}

// --- prompt caches ---

/** Marks for a provider's prompt cache. */
export type CacheMarks = {
  /** More of them a request may not have. */
  readonly countMax: number
  /** Those that stand around the history, and the one for all of it. */
  readonly around: (source: Source, history: Span) => readonly CacheTtl[]
  /** A user's entry, given as JSON, with a mark at its end, or behind its first part; null if it has no place for one. */
  readonly marked: (entry: string, ttl: CacheTtl, at: 'end' | 'beginning') => string | null
}

// --- recall ---

/** A tool of Foldgate's beside the client's. */
export type RecallTool = {
  readonly name: string
  readonly description: string
  /** Of its arguments, as a JSON schema has them. */
  readonly properties: JsonObject
}
