import type { JsonObject } from '../json/json-value.ts'
import type { ServerEvent, StreamType } from './event-reader.ts'

// What a dialect gives to read answers, and to make one reply of several.

// --- answers ---

/** Reads what a server answers. */
export type Answers = {
  /** The media type of its streams. */
  readonly streamType: StreamType
  readonly limits: AnswerLimits
  /** What matters of a plain answer's parsed body; null if it is neither an object nor a list. */
  readonly read: (body: unknown) => AnswerFacts | null
  /** A reader of the events of one streamed answer, in their order. */
  readonly openStream: () => EventsReader
  /** Whether an event may say more than a piece of the reply; looked up without parsing it. */
  readonly isTelling: (event: ServerEvent) => boolean
  /** The events of a stream that says what a plain answer says; '' in place of one that is nested too deep to be written. */
  readonly eventsOf: (body: JsonObject) => readonly string[]
  /** Takes the usage that only Foldgate asked for out of a stream. Left out if every stream of this dialect states it. */
  readonly usageHider?: () => UsageHider
}

/** How much of an answer is read, in characters. */
export type AnswerLimits = {
  /** Longer events hold media or say no more than a piece of the reply; they are not read. */
  readonly eventCharactersMax: number
  /** A stream that says nothing in so many is passed on. Some servers repeat the request in their first event. */
  readonly undecidedCharactersMax: number
  /** So much of a stream's end holds what it states of its usage, but for what stands in its first events, in bytes. */
  readonly endingBytes: number
}

/** Takes the events of a streamed answer one by one. What one says may depend on those before it. */
export type EventsReader = (event: ServerEvent) => AnswerEvent

export type AnswerFacts = {
  /** Content, reasoning, a refusal, audio or a call: something that a client may already show. */
  readonly hasOutput: boolean
  readonly finish: Finish | null
  readonly usage: Usage | null
  readonly model: string | null
  /** The server says that it is Ollama, which cuts prompts to its window without a word. */
  readonly isOllama: boolean
  /** An error stands instead of an answer, or beside one. */
  readonly isError: boolean
  /** Thoughts of the request that the server left out of the prompt; null if it does not say. */
  readonly removedThoughts: RemovedThoughts | null
  /** Why less than hoped was in the provider's prompt cache; null if it does not say. */
  readonly cacheMiss: CacheMiss | null
  /** What states it, parsed or as text: as much as was written about it, and nothing of the reply. Null without an error. */
  readonly said: unknown
}

/** How many thoughts a server left out, by why it did. */
export type RemovedThoughts = Readonly<Partial<Record<RemovalReason, number>>>

/**
 * `prefix`: what stands before them is not what they were thought on. `model`, `organization`, `end-user`: they were thought by
 * another, or for another. `turn`: the server shows none that are older than a turn.
 */
export type RemovalReason = 'prefix' | 'model' | 'organization' | 'end-user' | 'turn' | 'other'

/**
 * What is not as it was when the provider last had the conversation: the model, what is said beside the history, the tools, the
 * history itself. `unknown`: it does not know what to compare with; `unavailable`: it cannot tell.
 */
export type CacheMiss = 'model' | 'system' | 'tools' | 'messages' | 'unknown' | 'unavailable' | 'other'

/** Why a reply ended. `window`: the window was full; `filtered`: a policy ended it; `other`: a reason of the server's own. */
export type Finish = 'end' | 'length' | 'calls' | 'filtered' | 'window' | 'error' | 'other'

/** The token counts of an answer, in the server's tokens. */
export type Usage = {
  /** Includes what was read from the provider's prompt cache, and what was written to it. */
  readonly promptTokens: number
  readonly completionTokens: number | null
  /** Read from the provider's prompt cache. */
  readonly cachedTokens: number | null
  /** Written to the provider's prompt cache, where that has a price of its own. */
  readonly cacheWrittenTokens: number | null
  /** Whether the prompts of several samplings are added up in it: then it is the size of none. Left out if not. */
  readonly isSum?: boolean
}

/** `unknown`: nothing that can be read, though it is not empty. */
export type AnswerEvent =
  | { readonly kind: 'facts'; readonly facts: AnswerFacts }
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
  readonly join: <Event extends StreamEvent>(rules: CallRules) => AnswerJoin<Event>
  /** Whether an event is the last word of a stream. */
  readonly isDone: (event: string) => boolean
  /** An error, given as parsed JSON, as the event of a stream. */
  readonly errorEvent: (error: JsonObject) => string
  /** The entries by which a model goes on after its calls were answered, each of which has an id. */
  readonly answeredCalls: (said: string, reply: Reply, answered: readonly AnsweredCall[]) => readonly string[]
  /** The entries by which a model goes on with what it `said`, as it is `asked` to. */
  readonly goOn: (said: string, asked: string) => readonly string[]
  /** The same entries behind another form of the request: without thoughts that the server has bound to the one before. */
  readonly unbound: (entries: readonly string[]) => readonly string[]
  /** Whether any server may bind the thoughts of a reply to the form of the request that it answers, and not only few do. */
  readonly bindsThoughts: boolean
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

/** An event as it came. Whoever holds its bytes gets this very object back if it goes on unchanged. */
export type StreamEvent = { readonly text: string }

/** One reply for the client, made of one answer or of several that go on from each other: all streamed, or all plain. */
export type AnswerJoin<Event extends StreamEvent> = {
  /** Takes an event of the answer that flows; returns what the client gets now: events as they came, or new ones. */
  readonly take: (event: Event) => readonly (Event | string)[]
  /** Takes a plain answer: what it says, with its text as the client will see it; null if nobody can go on from it. */
  readonly takePlain: (body: unknown) => Reply | null
  /**
   * The answer has ended: what it said, and what the client gets of it now. `reply` is null if nobody can go on from it: it
   * failed, or was not understood.
   */
  readonly ended: () => { readonly reply: Reply | null; readonly shown: readonly (Event | string)[] }
  /**
   * A further answer follows, whose text is joined by the seam: what the client still gets of the one before. What else was
   * held back is not wanted any more.
   */
  readonly goOn: (seam: Seam) => readonly (Event | string)[]
  /** What was held back, if no further answer follows. */
  readonly finish: () => readonly (Event | string)[]
  /** The body that the client gets; null if that is the one that came. */
  readonly finishPlain: () => JsonObject | null
  /**
   * What is missing of the end of a reply whose further answer broke off: it stands as one that was cut, unless its end
   * was there. Null if nothing can be said.
   */
  readonly cut: () => readonly (Event | string)[] | null
  /** The usage of all answers so far; null if none was stated. */
  readonly usage: () => Usage | null
}
