/** What is known of the keys of a request that an upstream refused as not authenticated or not allowed. */
type RefusedKeys = {
  /** The upstream's name in the settings. */
  readonly upstream: string
  /** Where a key of Foldgate's own was taken from: `api_key_env` or `api_key_file`, or configured headers; null: there is none. */
  readonly ownKey: 'key' | 'header' | null
  /** Whether the client sent a credential. */
  readonly clientHasKey: boolean
  /** Whether the upstream may see the client's. */
  readonly forwardsClientKey: boolean
  /** Whether the client's credential is a key of Foldgate's own, which opens nothing at an upstream. */
  readonly isOwnClientKey: boolean
}

/**
 * Whose key the upstream got, for `x-foldgate-hint` and the log: what its own error cannot know. Null where the client's
 * own key was refused, of which the error says all. Never holds a key, nor a setting's value, which may be one by mistake.
 */
export function keyHint(refused: RefusedKeys): string | null {
  const { upstream, ownKey, clientHasKey, forwardsClientKey, isOwnClientKey } = refused
  if (ownKey === 'key')
    return `the upstream "${upstream}" got Foldgate's own key (its api_key_env or api_key_file in foldgate.yaml), not the client's`
  if (ownKey === 'header')
    return `the upstream "${upstream}" got the credential in its headers in foldgate.yaml, not the client's key`
  const howToGiveOne = 'give it one by api_key_env or api_key_file in foldgate.yaml'
  if (isOwnClientKey)
    return `the upstream "${upstream}" got no key: the client's is one of client_keys, which opens Foldgate alone; ${howToGiveOne}`
  if (!forwardsClientKey) {
    const dropped = clientHasKey ? "the client's goes to the default upstream only" : 'the client sent none'
    return `the upstream "${upstream}" got no key: ${dropped}; ${howToGiveOne}, or let it have the client's by forward_client_key: true`
  }
  return clientHasKey
    ? null
    : `the upstream "${upstream}" got no key: the client sent none, and Foldgate has none for it`
}
