import { LRUCache } from 'lru-cache'
import type { Store } from './store.ts'

export type MemoryStoreOptions = {
  /** How much is kept, in characters of keys and values; beyond it the least recently used go. */
  readonly charsMax: number
  /** How long a value is kept after it was last written, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}

/** A store that lives as long as the process. */
export function openMemoryStore({ charsMax, lifetimeMs }: MemoryStoreOptions): Store {
  const values = new LRUCache<string, string>({
    maxSize: charsMax,
    sizeCalculation: (value, key) => Math.max(1, key.length + value.length),
    ttl: lifetimeMs,
  })
  return {
    name: 'memory:',
    getFirst: async (keys) => {
      for (const [index, key] of keys.entries()) {
        const value = values.get(key)
        if (value !== undefined) return { index, value }
      }
      return null
    },
    putIfAbsent: async (key, value) => {
      const standing = values.get(key)
      if (standing !== undefined) return standing
      values.set(key, value)
      return value
    },
    put: async (key, value) => {
      values.set(key, value)
    },
    delete: async (keys) => {
      for (const key of keys) values.delete(key)
    },
    close: async () => {
      values.clear()
    },
  }
}
