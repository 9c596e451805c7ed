import { LRUCache } from 'lru-cache'

/** What is learnt of a model is learnt for this: the same model differs by provider, and by the tier that a credential buys. */
export type ModelKey = {
  readonly upstream: string
  /** A digest of the credential, never the credential. */
  readonly credential: string
  readonly model: string
}

/** The same object for the same three, while it is in use: what is found by its name is found by the same text. */
export function modelKeyOf(upstream: string, credential: string, model: string): ModelKey {
  const name = JSON.stringify([upstream, credential, model])
  const known = keys.get(name)
  if (known !== undefined) return known
  const key = { upstream, credential, model }
  keys.set(name, key)
  return key
}

/** The same as one text. */
export function nameOfModel(key: ModelKey): string {
  const known = names.get(key)
  if (known !== undefined) return known
  const name = JSON.stringify([key.upstream, key.credential, key.model])
  names.set(key, name)
  return name
}

// --- internal ---

/** As many as models of which something is learnt. */
const KEYS_MAX = 4_096

const keys = new LRUCache<string, ModelKey>({ max: KEYS_MAX })

/** A request asks for the name of its key a dozen times. */
const names = new WeakMap<ModelKey, string>()
