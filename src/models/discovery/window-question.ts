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
