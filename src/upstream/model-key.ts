/** What is learnt of a model is learnt for this: the same model differs by provider, and by the tier that a credential buys. */
export type ModelKey = {
  readonly upstream: string
  /** A digest of the credential, never the credential. */
  readonly credential: string
  readonly model: string
}

/** The same as one text. */
export function nameOfModel({ upstream, credential, model }: ModelKey): string {
  return JSON.stringify([upstream, credential, model])
}

/** The same for what is counted in one encoding. */
export function nameOfCounts({ upstream, credential, model }: ModelKey, encoding: string): string {
  return JSON.stringify([upstream, credential, model, encoding])
}
