import type { Span } from './source.ts'

/** What a body may hold to be read; each is a setting (`limits` in foldgate.yaml). */
export type BodyLimits = {
  /** How many objects and arrays may stand in each other. */
  readonly depthMax: number
  /** Elements of arrays and members of objects in all. */
  readonly elementsMax: number
  /** Members of the body itself. */
  readonly keysMax: number
  /** Entries of the history. */
  readonly messagesMax: number
  /** Elements and members within one entry of the history. */
  readonly partsMax: number
}

/** A value that was delimited: nothing of it is read. */
export type ValueSpan = Span & {
  /** Elements and members in it. */
  readonly elements: number
}

/** The bytes of an entry, and what it stands in. */
export type PlacedSpan = Span & {
  /** Left out if it is an element of the history itself. */
  readonly envelope?: Envelope
}

/** An entry of the history. */
export type EntrySpan = ValueSpan &
  PlacedSpan & {
    /** How many keys it has itself, if it is an object, each as often as it stands there. */
    readonly keys: number
    /** Its strings of 4,096 bytes or more, with their quotes, ascending; left out where there are none. */
    readonly longStrings?: readonly Span[]
  }

/**
 * An element of the history that holds several entries: `{"role":"user","content":[…]}` around its blocks, for example. All
 * entries of one have the same object.
 */
export type Envelope = Span & {
  /** Where the first of its entries begins, and where the last one ends. */
  readonly open: number
  readonly close: number
  /** How many keys it has, each as often as it stands there. */
  readonly keys: number
}

/** Where a history stands in a body. */
export type HistoryKeys = {
  /** The key of the array that holds it. */
  readonly history: string
  /** The key of the arrays within its elements whose elements are the entries; null if those are entries themselves. */
  readonly content: string | null
}

/** A member of a body: its key, and its value with what is in it. */
export type BodyMember = { readonly key: Span; readonly value: ValueSpan }

/** A body that is known to be JSON. */
export type BodyScan = {
  readonly entries: readonly BodyMember[]
  /** The entries of its history but for those that were known; null where it has no such array. */
  readonly history: readonly EntrySpan[] | null
}

/** Why a body is not read. */
export type BodyFault =
  | 'no-json'
  | 'too-deep'
  | 'too-many-elements'
  | 'too-many-keys'
  | 'too-many-messages'
  | 'too-many-parts'

/** A beginning of the history that was scanned before: from its bracket to the end of the last known entry. */
export type KnownHistory = Span & { readonly messages: number; readonly elements: number }
