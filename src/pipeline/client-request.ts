import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { ClientOverride } from '../config/settings.ts'
import type { FoldgateError } from '../errors.ts'
import type { Dialect } from '../formats/contract.ts'
import type { Holder } from '../scheduling/fair-share.ts'
import type { Cancellation } from '../upstream/cancellation.ts'
import type { UncompactedPath } from '../upstream/target.ts'
import type { Answer, ClientPart } from '../upstream/upstreams.ts'

// What the server hands to the pipeline, and what it gets back: neither says how either travels.

/** One request of a client, after the gates. */
export type ClientRequest = ClientPart & {
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders
  /** Where its method and path lead. */
  readonly route: Route
  /** The upstream that `/u/NAME/` chose; null for the default. */
  readonly upstreamName: string | null
  /** The client key that was presented; null where Foldgate has none. */
  readonly clientKeyName: string | null
  readonly rights: ClientRights | null
  /** Whose state it may use. */
  readonly scope: Scope
  /** The request, as something that places, bytes and turns are shared out to. */
  readonly holder: Holder
  /** Aborted with a `ClientGoneError` as soon as the client leaves before its answer is complete. */
  readonly signal: Cancellation
  readonly body: ClientBody
}

/** Where a method and a path lead. */
export type Route =
  /** A conversation that is read, and compacted if it has to be. */
  | { readonly kind: 'conversation'; readonly dialect: Dialect }
  /** Passed on unread. `uncompacted`: the API that generates from conversations; null if the path is none of these. */
  | { readonly kind: 'relay'; readonly uncompacted: UncompactedPath | null }

/** The rights of a client key; a client without one may do everything. */
export type ClientRights = {
  readonly profiles: readonly string[]
  readonly overrides: readonly ClientOverride[]
}

/** Whose state a request may use, and whose windows it learns: digests, never the credentials themselves. */
export type Scope = {
  readonly scope: string
  readonly credential: string
  /** The owner of a share of what all clients share: the scope, or the address of a client without credentials. */
  readonly holder: string
}

/** The body of a request, which has not been taken yet: it can be once, in one of these ways. */
export type ClientBody = {
  /** The length that the request states, in bytes: 0 where it carries none; null where its end tells. */
  readonly declaredBytes: number | null
  /** Whether a body of that length is one that may be read; false where it states none. */
  readonly isWithinLimits: boolean
  /**
   * All of it, paid for as it comes. Rejects with `body_too_large`, `overloaded`, `body_timeout` or, when the client
   * leaves, a `ClientGoneError`.
   */
  readonly read: () => Promise<RequestBody>
  /** As it comes, to be passed on; null where there is none. */
  readonly open: () => Promise<Buffer | Readable | null>
}

/** A body that was read. */
export type RequestBody = {
  /** The bytes as the client sent them. */
  readonly raw: Buffer
  /**
   * The bytes without their content coding; `raw` itself where there is none. Null where they cannot be
   * decoded or grow beyond a limit: then only `raw` can be relayed, unread.
   */
  readonly decoded: Buffer | null
  /** Pays for so many more bytes, which are made of the body. Throws `overloaded` where they are not to be had. */
  readonly charge: (bytes: number) => void
  /** Gives all bytes back to the budget; to be called when the body is no longer needed. */
  readonly release: () => void
}

/** An answer that is settled on, as the client is to get it. */
export type ClientAnswer = {
  readonly answer: Answer
  /** Pieces of its body that were already taken from it, in order. */
  readonly held: readonly Buffer[]
  /** Foldgate's own headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** Changes the body on its way to the client; null where it goes as it came. */
  readonly transform: BodyTransform | null
  /** Sees every piece after it was written, held ones too, as it came. What it throws is dropped. */
  readonly tap: ((piece: Buffer) => void) | null
  /** To be called once, when no more of it is given to the client. */
  readonly ended: (delivery: Delivery) => void
}

/**
 * Changes a body piece by piece. If it throws, it is done with: the rest of the body goes on as it came.
 */
export type BodyTransform = {
  /** Takes a piece, cut anywhere; returns what goes on by now, which may be nothing. */
  readonly feed: (piece: Buffer) => Buffer
  /** What is left to go on at the end of a whole body. */
  readonly end: () => Buffer
  /** What is complete and waits for the piece that follows it. It goes on without if that does not come soon. */
  readonly overdue: () => Buffer
  /** What goes on of what is left if the body breaks off. */
  readonly broken: () => Buffer
}

/** What became of an answer on its way to the client. */
export type Delivery = {
  readonly outcome: 'finished' | 'client-gone' | 'broken-off'
  /** Body bytes that were given to the client's connection. */
  readonly bytes: number
  /** Why the upstream broke off, for the log. */
  readonly error: FoldgateError | null
}
