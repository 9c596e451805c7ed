/** What is learnt of a model is learnt for this: the same model differs by provider, and by the tier that a credential buys. */
export type ModelKey = {
  readonly upstream: string
  /** A digest of the credential, never the credential. */
  readonly credential: string
  readonly model: string
  /** All three as one text. */
  readonly name: string
}

export function modelKeyOf(upstream: string, credential: string, model: string): ModelKey {
  return { upstream, credential, model, name: JSON.stringify([upstream, credential, model]) }
}
