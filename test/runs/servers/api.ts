/** How a client asks in one of the APIs that servers speak, and how it reads what they answer. */
export type Api = {
  readonly path: string
  /** The members of a body beside the model. */
  readonly bodyOf: (asked: AskedFor) => string
  /** Why a plain answer is of no use; null where it is. */
  readonly plainProblem: (text: string) => string | null
  /** The same of a stream; `parts` is the data of its events. */
  readonly streamProblem: (parts: readonly unknown[], text: string) => string | null
  /** Whether an answer, or an event of one, holds a piece of what the model said. */
  readonly hasOutput: (part: unknown) => boolean
  readonly promptFigures: (part: unknown) => PromptFigures | null
}

export type AskedFor = {
  /** The JSON of each message of a chat. */
  readonly messages: readonly string[]
  readonly isStreamed: boolean
  readonly outputTokens: number
}

export type PromptFigures = {
  /** As the server counts them. */
  readonly tokens: number
  /** Those that were not in its cache; null where it does not tell. */
  readonly evaluatedTokens: number | null
}

/** So much of an answer is shown where something is wrong with it. */
export const SHOWN_CHARS = 160

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
