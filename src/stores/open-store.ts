import { batchingStore } from './batching-store.ts'
import { encryptedStore } from './encrypted-store.ts'
import { installationSecret } from './installation-secret.ts'
import { openMemoryStore } from './memory-store.ts'
import { storeLocation, type StoreLocation, type UserPlace } from './store-location.ts'
import { StoreError } from './store-error.ts'
import type { Store } from './store.ts'

export type OpenStoreOptions = UserPlace & {
  /** `memory:`, `sqlite:`, `sqlite:PATH`, `redis://…` or `rediss://…`. */
  readonly url: string
  /** How long a value is kept after it was last written, in days; above 0. */
  readonly lifetimeDays: number
  readonly megabytesMax: number
  /** Whether a store that cannot be opened is an error; else it becomes `memory:`. */
  readonly required: boolean
  /** What values are encrypted with; null: not at all. */
  readonly encryptKey: string | null
}

export type OpenedStore = {
  readonly store: Store
  /** The installation's secret, which all who use this store share. */
  readonly secret: Buffer
  /** Why records are kept in memory, and what to do about it; null where they are kept as they should be. */
  readonly trouble: string | null
}

/** Opens the store that the settings name. Rejects with a `StoreError` where it is required and cannot be. */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  try {
    return { ...(await openAt(storeLocation(options.url, options), options)), trouble: null }
  } catch (error) {
    if (!(error instanceof StoreError) || options.required) throw error
    return { ...(await openAt({ kind: 'memory' }, options)), trouble: error.message }
  }
}

/** Opens it as it is: without encryption, and without an installation's secret in it. */
export async function openBareStore(
  location: StoreLocation,
  limits: Pick<OpenStoreOptions, 'lifetimeDays' | 'megabytesMax'>,
): Promise<Store> {
  const bytesMax = limits.megabytesMax * MEGABYTE
  const lifetimeMs = lifetimeMsOf(limits)
  // Nobody pays for a driver that is not used.
  switch (location.kind) {
    case 'memory':
      return openMemoryStore({ bytesMax, lifetimeMs })
    case 'sqlite': {
      const { openSqliteStore } = await import('./sqlite-store.ts')
      return openSqliteStore({ path: location.path, bytesMax, lifetimeMs })
    }
    case 'redis': {
      const { openRedisStore } = await import('./redis-store.ts')
      return openRedisStore({ url: location.url, bytesMax, lifetimeMs })
    }
  }
}

// --- internal ---

const MEGABYTE = 1024 * 1024

const DAY_MS = 86_400_000

function lifetimeMsOf({ lifetimeDays }: Pick<OpenStoreOptions, 'lifetimeDays'>): number {
  return Math.ceil(lifetimeDays * DAY_MS)
}

async function openAt(
  location: StoreLocation,
  options: OpenStoreOptions,
): Promise<Pick<OpenedStore, 'store' | 'secret'>> {
  const { encryptKey } = options
  const bare = await openBareStore(location, options)
  const { secret, release } = await agreed(bare, options)
  const readable = encryptKey === null ? bare : encryptedStore(bare, encryptKey)
  // Replicas on a server see at once where a conversation stands; a file is mostly one process's own.
  const store = location.kind === 'sqlite' ? batchingStore(readable) : readable
  return {
    secret,
    store: {
      ...store,
      close: () => {
        release()
        return store.close()
      },
    },
  }
}

/** A store that fails at the first thing asked of it is not used at all: others would have another secret. */
async function agreed(store: Store, options: OpenStoreOptions) {
  try {
    return await installationSecret({
      store,
      encryptKey: options.encryptKey,
      lifetimeMs: lifetimeMsOf(options),
    })
  } catch (error) {
    await store.close()
    const kind = error instanceof Error ? error.name : 'unknown'
    throw new StoreError(
      `${store.name} was opened and then failed (${kind}): see that it can be written to`,
      { cause: error },
    )
  }
}
