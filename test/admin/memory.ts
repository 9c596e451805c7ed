import { createFailures } from '../../src/telemetry/failures.ts'
import { createStoreGuard, type StoreGuard } from '../../src/storage/store-guard.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'

export const memoryStore = (): Store => openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })

/** The true guard, as one app makes it. */
export const storeGuard = (): StoreGuard => createStoreGuard(createFailures(() => {}))

/** One that lets a store fail as often as it likes, and never leaves it alone for a while. */
export const patientGuard: StoreGuard = async (instead, work) => {
  try {
    return await work()
  } catch {
    return instead
  }
}

/** A store that tells what it holds of a conversation. */
export type GroupedStore = Store & {
  /** The keys and values that it holds for a conversation, as lines. */
  readonly holds: (conversation: string) => Promise<readonly string[]>
}

export function groupedStore(): GroupedStore {
  const inner = memoryStore()
  const groups = new Map<string, string | undefined>()
  return {
    ...inner,
    putIfAbsent: (key, value, group) => {
      groups.set(key, group)
      return inner.putIfAbsent(key, value, group)
    },
    put: (entries) => {
      for (const { key, group } of entries) groups.set(key, group)
      return inner.put(entries)
    },
    holds: async (conversation) => {
      const held: string[] = []
      for (const [key, group] of groups) {
        const found = group === conversation ? await inner.getFirst([key]) : null
        if (found !== null) held.push(`${key} ${found.value}`)
      }
      return held
    },
  }
}
