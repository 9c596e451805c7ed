/** What is learnt of a model is learnt for this: the same model differs by provider, and by the tier that a credential buys. */
export type ModelKey = {
  readonly upstream: string
  /** Where the upstream is: at another address the same name is another server. */
  readonly address: string
  /** A digest of the credential, never the credential. */
  readonly credential: string
  readonly model: string
  /** All of it as one text. */
  readonly name: string
}

export function modelKeyOf(upstream: string, credential: string, model: string, address: string): ModelKey {
  const name = JSON.stringify([upstream, address, credential, model])
  return { upstream, address, credential, model, name }
}
