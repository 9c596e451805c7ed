import type { LiveKey, LiveSecrets } from './keys.ts'
import type { Secret } from './secret.ts'

/** The settings that have keys. */
export type KeyHolders = {
  readonly upstreams: ReadonlyMap<string, { readonly name: string; readonly key: LiveKey | null }>
  readonly client_keys: readonly { readonly name: string; readonly key: LiveKey }[]
  readonly admin: { readonly token: Secret | null }
}

/** A client's key that is somebody else's too. */
export type KeyClash = {
  readonly keys: readonly LiveKey[]
  /** What is wrong, without the key. */
  readonly message: string
}

/**
 * Finds keys of clients that are somebody else's too: another client's, so that the two could not be told apart, or one
 * that no client is to have. Upstreams may share a key. `changes` take the place of keys as they are now.
 */
export function keyClashes(
  { upstreams, client_keys: clients, admin }: KeyHolders,
  changes: ReadonlyMap<LiveKey, LiveSecrets> = new Map(),
): readonly KeyClash[] {
  const clashes: KeyClash[] = []
  for (const [index, { name, key }] of clients.entries()) {
    const own = new Set((changes.get(key) ?? key.now()).map((secret) => secret.reveal()))
    const hasOneOf = (secrets: readonly Secret[]): boolean =>
      secrets.some((secret) => own.has(secret.reveal()))
    const compare = (other: LiveKey, message: string): void => {
      if (hasOneOf(changes.get(other) ?? other.now())) clashes.push({ keys: [key, other], message })
    }
    for (const other of clients.slice(index + 1))
      compare(other.key, `the client keys "${name}" and "${other.name}" are the same key`)
    for (const { name: upstream, key: sent } of upstreams.values()) {
      const message = `the client key "${name}" is the key that Foldgate sends to the upstream "${upstream}"`
      if (sent !== null) compare(sent, message)
    }
    if (admin.token !== null && hasOneOf([admin.token]))
      clashes.push({ keys: [key], message: `the client key "${name}" is the token of the admin listener` })
  }
  return clashes
}
