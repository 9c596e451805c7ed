import type { WindowKind } from '../../overflow/classification.ts'
import type { Target } from '../../upstream/target.ts'

/** Which window a request is about: that of a model, as the client's own credential sees it. */
export type WindowQuestion = {
  /** A name from the settings; null for the default upstream. */
  readonly upstream: string | null
  /** A digest of the credential: what one credential was told is never told to another. */
  readonly credential: string
  /** Null where no server can know the model by its name. */
  readonly model: string | null
  /** Of the chat completion, as the client wrote it. */
  readonly target: Target
  /** The client's headers. Its credentials go to the server, under the same rules as its requests. */
  readonly rawHeaders: readonly string[]
  /** True where the client's credential is a key of Foldgate's own. */
  readonly withholdCredential: boolean
}

/** The window that a server states. */
export type ServerWindow = {
  readonly tokens: number
  readonly kind: WindowKind
  /** What the prompt alone may take, where the server states that beside a total window; else null. */
  readonly inputTokens: number | null
  /** Only what this kind of server does unless told otherwise. */
  readonly isAssumed: boolean
  /** The size that the server says it runs the model with now: no catalogue's, and none of before it unloaded the model. */
  readonly isLoaded: boolean
}
