import type { LiveSecrets } from './live-key.ts'
import type { Settings } from './settings.ts'

/** Keys that a setting stands for, and whose they are. */
export type KeyHolding = {
  readonly owner:
    | { readonly kind: 'client'; readonly name: string }
    | { readonly kind: 'upstream'; readonly name: string }
    | { readonly kind: 'admin' }
  readonly secrets: LiveSecrets
}

/** Two owners of one key, `one` a client. */
export type KeyClash = {
  readonly one: KeyHolding
  readonly other: KeyHolding
  /** What is wrong, without the key. */
  readonly message: string
}

/** All keys of these settings as they are now. */
export function keyHoldings({
  upstreams,
  client_keys,
  admin,
}: Pick<Settings, 'upstreams' | 'client_keys' | 'admin'>): readonly KeyHolding[] {
  const holdings: KeyHolding[] = []
  for (const { name, key } of client_keys)
    holdings.push({ owner: { kind: 'client', name }, secrets: key.now() })
  for (const { name, key } of upstreams.values()) {
    if (key !== null) holdings.push({ owner: { kind: 'upstream', name }, secrets: key.now() })
  }
  if (admin.token !== null) holdings.push({ owner: { kind: 'admin' }, secrets: [admin.token] })
  return holdings
}

/**
 * Finds keys of clients that are somebody else's too: another client's, which would make the two one, or one that no
 * client is to have. Upstreams may well share a key.
 */
export function keyClashes(holdings: readonly KeyHolding[]): readonly KeyClash[] {
  const clients = holdings.filter(({ owner }) => owner.kind === 'client')
  const others = holdings.filter(({ owner }) => owner.kind !== 'client')
  return clients.flatMap((one, at) =>
    [...clients.slice(at + 1), ...others]
      .filter((other) => sharesSecret(one, other))
      .map((other) => ({ one, other, message: messageOf(one, other) })),
  )
}

// --- internal ---

function sharesSecret(one: KeyHolding, other: KeyHolding): boolean {
  const values = new Set(one.secrets.map((secret) => secret.reveal()))
  return other.secrets.some((secret) => values.has(secret.reveal()))
}

function messageOf({ owner: one }: KeyHolding, { owner: other }: KeyHolding): string {
  const first = one.kind === 'client' ? one.name : ''
  switch (other.kind) {
    case 'client':
      return `the client keys "${first}" and "${other.name}" are the same key`
    case 'upstream':
      return `the client key "${first}" is the key that Foldgate sends to the upstream "${other.name}"`
    case 'admin':
      return `the client key "${first}" is the token of the admin listener`
  }
}
