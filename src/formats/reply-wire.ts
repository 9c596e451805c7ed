import type { JsonObject } from '../json/json-value.ts'
import type { Finish, ReplyCall, Usage } from './answer-contract.ts'
import type { TypedEvent, Untold } from './typed-events.ts'

// What a dialect gives so that `joined-reply.ts` makes one reply of several answers: how its events change the parts of an
// answer, and how such changes are written for a client.

/** A part of an answer: a text, a thought, a call, or whatever else its dialect has. */
export type Part = {
  readonly kind: 'text' | 'thought' | 'call' | 'other'
  /** As it began. */
  readonly begun: JsonObject
  /** As its events add up. */
  json: JsonObject
  /** Its place in the answer, as the server states it. */
  readonly index: unknown
  /** The arguments of a call as they were written, where `json` has them parsed. */
  argumentsText: string
  /** Whether it is known that nothing is missing at its end. */
  isWhole: boolean
  /** Its texts, as they came so far and as the client gets them. */
  readonly texts: { came: string; shown: string }[]
  /** Whether the client gets to see it; `waiting` while that is not known. */
  fate: 'waiting' | 'shown' | 'hidden'
  /** It was made behind something that the client does not know. */
  isForeign: boolean
  /** What the client sees of it. */
  seenPart: SeenPart | null
}

/** A part of the reply as the client sees it: of one answer, or of a text that was cut and went on in others. */
export type SeenPart = {
  readonly place: number
  /** The id that the client knows it by; undefined if its dialect gives none of its own. */
  readonly id: unknown
  /** What the answers before the one that flows said of it. */
  before: JsonObject | null
  /** What the answer that flows says of it. */
  part: Part | null
  isClosed: boolean
  /** What is stated of it where it was ended for the client, and not by its server. */
  stated: JsonObject
}

/** What an event changes in an answer. `json`: the event. */
export type Move =
  /** It begins, or says what only a first answer says. */
  | { readonly kind: 'once'; readonly part?: null; readonly json: JsonObject }
  /** `piece`: what of the event is about this part. */
  | {
      readonly kind: 'begin' | 'more'
      readonly part: Part
      readonly json: JsonObject
      readonly piece?: JsonObject
    }
  /** More of the text at this place among those of the part; it may be empty. */
  | {
      readonly kind: 'text'
      readonly part: Part
      readonly at: number
      readonly text: string
      readonly json: JsonObject
    }
  /** `isAll`: the part ends, and not only one of its texts. */
  | { readonly kind: 'close'; readonly part: Part; readonly isAll: boolean; readonly json: JsonObject }
  /** `reason`: why the answer ends; `last`: nothing follows; `more`: what else is said at the end. */
  | {
      readonly kind: 'end'
      readonly part?: null
      readonly says: 'reason' | 'last' | 'more'
      readonly json: JsonObject
    }

/** The parts of the answer that is read. */
export type AnswerParts = {
  readonly all: readonly Part[]
  /** `isOurs`: whether it is a call of Foldgate's tool; null while that is not known. */
  readonly add: (
    kind: Part['kind'],
    json: JsonObject,
    more: { readonly index?: unknown; readonly isOurs?: boolean | null },
  ) => Part
  /** It turned out whose call it is. */
  readonly decide: (part: Part, isOurs: boolean) => void
}

/** Reads one answer. */
export type AnswerReader = {
  /** Takes an event; nothing if it is about nothing in the answer. */
  readonly take: (event: TypedEvent) => readonly Move[]
  /** Takes a plain answer and adds its parts; false if it is none that can be gone on from. */
  readonly takePlain: (body: JsonObject) => boolean
  /** Why the answer ended; null if that was not stated yet. */
  readonly finish: () => Finish | null
  readonly usage: () => JsonObject | null
  /** What is said of a plain answer, or at the end of a stream, around its parts. */
  readonly about: () => JsonObject
}

/** How a reply ends. */
export type Ending = {
  /** The reason in place of the stated one: of calls of which one is left out, or that the client does not see; else null. */
  readonly reason: string | null
  /** Of all answers; null if none was stated. */
  readonly usage: JsonObject | null
  readonly parts: () => readonly JsonObject[]
  readonly about: JsonObject
}

/** Writes what does not go on as it came. */
export type ClientWriter = {
  /** What an event, or a plain answer, says of its answer. */
  readonly note: (event: TypedEvent) => void
  /** An event went on as it came. */
  readonly passed?: (json: JsonObject, part: SeenPart | null) => void
  /** The id of a part; left out if the dialect's parts go by their places. */
  readonly idOf?: (part: Part) => unknown
  readonly begin: (one: SeenPart, move: Move) => readonly string[]
  readonly text: (one: SeenPart, move: Move & { readonly kind: 'text' }) => readonly string[]
  readonly more: (one: SeenPart, move: Move & { readonly kind: 'more' }) => readonly string[]
  /** `json`: as the client sees it; `move`: null if no event of the server's says it. */
  readonly close: (
    one: SeenPart,
    json: JsonObject,
    move: (Move & { readonly kind: 'close' }) | null,
  ) => readonly string[]
  /** Null if it is what the event says. */
  readonly end: (move: Move & { readonly kind: 'end' }, ending: Ending) => readonly string[] | null
  /** The end of a reply that broke off, as of one that was cut. */
  readonly cut: (ending: Ending, hasEnded: boolean) => readonly string[]
  /** An event that is about nothing in the answer, where it cannot stay as it was. */
  readonly aside?: (event: TypedEvent) => readonly string[]
  /** A further answer follows; `usage`: of those before. */
  readonly goOn?: (usage: JsonObject | null) => void
  /** The plain answer. */
  readonly body: (ending: Ending) => JsonObject
}

export type AnswerWire = {
  /** Reads an event; an `error` is everything that is not to be gone on from. */
  readonly readEvent: (text: string) => Untold | TypedEvent
  readonly openReader: (parts: AnswerParts, toolName: string | null) => AnswerReader
  readonly openWriter: () => ClientWriter
  /** The texts of a part. */
  readonly textsOf: (json: JsonObject) => readonly string[]
  readonly withTexts: (json: JsonObject, texts: readonly string[]) => JsonObject
  /** A text that was cut, with what it went on with. */
  readonly joined: (before: JsonObject, next: JsonObject) => JsonObject
  /** What an answer says; null if that is something else than text. */
  readonly textOf: (parts: readonly JsonObject[]) => string | null
  readonly call: (part: Part) => Pick<ReplyCall, 'id' | 'name' | 'argumentsText'>
  /** Whether a call at the end of an answer that was cut was cut itself. */
  readonly isCutCall: (json: JsonObject) => boolean
  /** What servers want back with a reply. */
  readonly kept: (parts: readonly JsonObject[], about: JsonObject) => JsonObject
  readonly hasRefusal: (parts: readonly JsonObject[], finish: Finish | null) => boolean
  readonly usageOf: (usage: JsonObject | null) => Usage | null
  /** Why a reply ends: for its calls, and as it should. */
  readonly reasons: { readonly calls: string; readonly end: string | null }
  /** What is stated of a part that is ended for the client. */
  readonly statedAtEnd?: (isCut: boolean) => JsonObject
  /** Thoughts are worth nothing without what they led to. This and what follows is left out if it is not so. */
  readonly thoughtsWait?: boolean
  /** Servers take no texts back that are empty. */
  readonly refusesEmptyTexts?: boolean
  /** All texts of a reply are one, whatever stands between them. */
  readonly isOneText?: boolean
  /** Events have numbers: none can overtake another. */
  readonly isNumbered?: boolean
}
