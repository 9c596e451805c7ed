import { hkdfSync, randomBytes } from 'node:crypto'
import type { Store } from './store.ts'

export type InstallationSecret = {
  /** 32 bytes. */
  readonly secret: Buffer
  /** Stops writing it again. */
  readonly release: () => void
}

/**
 * The secret under which scopes are named. All replicas that share a store have the same one, or they would not find each
 * other's records, nor their own after a restart. With an encryption key it is derived from that; else it lies in the
 * store, in the clear, and is written again before its lifetime in milliseconds (0: for ever) is over, and before it is
 * among the oldest values, which a full store deletes.
 */
export async function installationSecret(
  store: Store,
  encryptKey: string | null,
  lifetimeMs: number,
): Promise<InstallationSecret> {
  if (encryptKey !== null) {
    const derived = hkdfSync('sha256', encryptKey, '', SECRET_PURPOSE, SECRET_BYTES)
    return { secret: Buffer.from(derived), release: () => {} }
  }
  const fresh = randomBytes(SECRET_BYTES).toString(ENCODING)
  const standing = await store.putIfAbsent(SECRET_KEY, fresh)
  const text = isSecret(standing) ? standing : fresh
  await store.put([{ key: SECRET_KEY, value: text }])

  async function renew(): Promise<void> {
    // After a purge other replicas may have agreed on a new one. This one takes it over at its next start.
    if ((await store.putIfAbsent(SECRET_KEY, text)) === text)
      await store.put([{ key: SECRET_KEY, value: text }])
  }
  const renewalMs = lifetimeMs === 0 ? RENEWAL_MS : Math.min(RENEWAL_MS, Math.ceil(lifetimeMs / 3))
  // If the store is away now, it is there the next time, or has lost everything else as well.
  const renewal = setInterval(() => void renew().catch(() => {}), renewalMs)
  renewal.unref()
  return { secret: Buffer.from(text, ENCODING), release: () => clearInterval(renewal) }
}

// --- internal ---

const SECRET_KEY = 'installation:secret'

const SECRET_BYTES = 32

const ENCODING = 'base64url'

/** Keys for different purposes are derived from one secret (RFC 5869, section 3.2). */
const SECRET_PURPOSE = 'foldgate: names of scopes'

/** How often it is written again, in milliseconds: a store does not fill up from end to end within this time. */
const RENEWAL_MS = 3_600_000

function isSecret(text: string): boolean {
  return Buffer.from(text, ENCODING).length === SECRET_BYTES
}
