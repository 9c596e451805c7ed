import { createFailures } from '../../src/activity/failures.ts'
import { createStoreGuard, type StoreGuard } from '../../src/stores/store-guard.ts'
import { openMemoryStore } from '../../src/stores/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'

export function memoryStore(): Store {
  return openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 })
}

/** The true guard, as one app makes it. */
export function storeGuard(): StoreGuard {
  return createStoreGuard(createFailures(() => {}))
}

/** One that lets a store fail as often as it likes, and never leaves it alone for a while. */
export const patientGuard: StoreGuard = async (instead, work) => {
  try {
    return await work()
  } catch {
    return instead
  }
}
