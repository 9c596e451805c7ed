import { stat } from 'node:fs/promises'
import type { Settings } from '../config/settings.ts'
import { withOptionalPackages } from '../optional-packages.ts'
import { batchingStore } from './batching-store.ts'
import { encryptedStore } from './encrypted-store.ts'
import { openMemoryStore } from './memory-store.ts'
import { stateFile, type UserPlace } from './state-folder.ts'
import { StoreError } from './store-error.ts'
import type { Store } from './store.ts'
import { hkdfSync, randomBytes } from 'node:crypto'

type StoreSettings = Settings['store']

export type OpenedStore = {
  readonly store: Store
  /** The installation's secret, which all replicas with this store share. */
  readonly secret: Buffer
  /** Why records are kept in memory, and what to do about it; null if they are kept where the settings say. */
  readonly trouble: string | null
}

/** Opens the store that the settings name. Rejects with a `StoreError` if it is required and cannot be opened. */
export async function openStore(settings: StoreSettings, place: UserPlace): Promise<OpenedStore> {
  try {
    return { ...(await openAt(storeLocation(settings.url, place), settings)), trouble: null }
  } catch (error) {
    if (!(error instanceof StoreError) || settings.required) throw error
    return { ...(await openAt({ kind: 'memory' }, settings)), trouble: error.message }
  }
}

/**
 * Opens the store that the settings name for reading alone. Null where nothing is in it that could be read: it is in memory, or
 * there is no file yet. Rejects with a `StoreError`.
 */
export async function openStoreToRead(
  settings: StoreSettings,
  place: UserPlace,
): Promise<Pick<Store, 'getFirst' | 'close'> | null> {
  const location = storeLocation(settings.url, place)
  if (location.kind === 'memory') return null
  if (location.kind === 'sqlite' && !(await isFilled(location.path))) return null
  const bare = await openBareStore(location, settings, true)
  const encryptKey = settings.encrypt_key?.reveal() ?? null
  return encryptKey === null ? bare : encryptedStore(bare, encryptKey)
}

/** Opens a store without encryption, and without an installation's secret in it. */
export async function openBareStore(
  location: StoreLocation,
  settings: Pick<StoreSettings, 'ttl_days' | 'max_mb'>,
  isReadOnly = false,
): Promise<Store> {
  const limits = { bytesMax: settings.max_mb * MEGABYTE, lifetimeMs: Math.ceil(settings.ttl_days * DAY_MS) }
  // Each driver is loaded only if it is used.
  switch (location.kind) {
    case 'memory':
      return openMemoryStore(limits)
    case 'sqlite': {
      const { openSqliteStore } = await import('./sqlite-store.ts')
      return openSqliteStore({ path: location.path, isReadOnly, ...limits })
    }
    case 'redis': {
      const { openRedisStore } = await withOptionalPackages(
        'a store at redis://',
        () => import('./redis-store.ts'),
        (message) => new StoreError(message),
      )
      return openRedisStore({ url: location.url, ...limits })
    }
  }
}

/** Where `store.url` says that records are kept. */
export type StoreLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string }

/** Throws a `StoreError` if the environment does not tell the folder for `sqlite:`. */
export function storeLocation(url: string, place: UserPlace): StoreLocation {
  if (url === 'memory:' || url === 'sqlite::memory:') return { kind: 'memory' }
  if (!url.startsWith('sqlite:')) return { kind: 'redis', url }
  const path = url.slice('sqlite:'.length)
  return { kind: 'sqlite', path: path === '' ? stateFile(place, FILE_NAME) : path }
}

// --- internal ---

const MEGABYTE = 1024 * 1024

const DAY_MS = 86_400_000

async function openAt(location: StoreLocation, settings: StoreSettings) {
  const encryptKey = settings.encrypt_key?.reveal() ?? null
  const bare = await openBareStore(location, settings)
  const agreed = await installationSecret(bare, encryptKey, settings.ttl_days * DAY_MS).catch(
    async (error: unknown) => {
      // A store that fails at its first use is not used at all: this process would have another secret than others.
      await bare.close()
      const kind = error instanceof Error ? error.name : 'unknown'
      throw new StoreError(
        `${bare.name} was opened and then failed (${kind}): see that it can be written to`,
        {
          cause: error,
        },
      )
    },
  )
  const readable = encryptKey === null ? bare : encryptedStore(bare, encryptKey)
  // Replicas on a server have to see each other's writes at once; a file mostly has one process.
  const store = location.kind === 'sqlite' ? batchingStore(readable) : readable
  const close = (): Promise<void> => {
    agreed.release()
    return store.close()
  }
  return { secret: agreed.secret, store: { ...store, close } }
}

/** Whether somebody has written to the file. */
function isFilled(path: string): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size > 0,
    () => false,
  )
}

const FILE_NAME = 'foldgate.sqlite'

/**
 * The secret under which scopes are named. All replicas that share a store have the same one, or they would not find each
 * other's records, nor their own after a restart. With an encryption key it is derived from that; else it lies in the
 * store, in the clear, and is written again before its lifetime in milliseconds (0: for ever) is over, and before it is
 * among the oldest values, which a full store deletes.
 */
async function installationSecret(store: Store, encryptKey: string | null, lifetimeMs: number) {
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
  return {
    /** 32 bytes. */
    secret: Buffer.from(text, ENCODING),
    /** Stops writing it again. */
    release: () => clearInterval(renewal),
  }
}

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
