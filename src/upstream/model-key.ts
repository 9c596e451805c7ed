/** What is learnt of a model is learnt for this: the same model differs by provider, and by the tier that a credential buys. */
export type ModelKey = {
  readonly upstream: string
  /** A digest of the credential, never the credential. */
  readonly credential: string
  readonly model: string
}

/** The same as one text. */
export function nameOfModel(key: ModelKey): string {
  const known = names.get(key)
  if (known !== undefined) return known
  const name = JSON.stringify([key.upstream, key.credential, key.model])
  names.set(key, name)
  return name
}

/** The same for what is counted in one encoding. */
export function nameOfCounts({ upstream, credential, model }: ModelKey, encoding: string): string {
  return JSON.stringify([upstream, credential, model, encoding])
}

// --- internal ---

/** A request asks for the name of its key a dozen times. */
const names = new WeakMap<ModelKey, string>()
