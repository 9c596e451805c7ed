/** A span as it is told after the fact, before OpenTelemetry is asked to make one. Figures and names only. */
export type ToldSpan = {
  readonly name: string
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly attributes: ToldAttributes
  readonly events: readonly {
    readonly name: string
    readonly atMs: number
    readonly attributes: ToldAttributes
  }[]
  /** What kind of failure it was, as a word; null where it was none. */
  readonly errorType: string | null
}

export type ToldAttributes = Readonly<Record<string, ToldValue>>

type ToldValue = string | number | boolean | string[]

/** Attributes without those that are not known. */
export function known(values: Readonly<Record<string, ToldValue | null>>): ToldAttributes {
  const attributes: Record<string, ToldValue> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value !== null) attributes[name] = value
  }
  return attributes
}

/**
 * A call's name as the conventions have it. Names of models come from clients: what is longer than any true one is cut.
 */
export function chatName(model: string): string {
  return model === '' ? 'chat' : `chat ${model.slice(0, MODEL_CHARS_MAX)}`
}

// --- internal ---

const MODEL_CHARS_MAX = 200
