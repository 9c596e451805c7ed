import { openMemoryStore } from '../../../src/storage/memory-store.ts'
import type { Store } from '../../../src/storage/store.ts'

/** A store that outlives the apps that use it, and what they did with records of what was learnt. */
export type SharedStore = {
  readonly store: Store
  /** The records of what was learnt, by key, as they were written last. */
  readonly learnt: ReadonlyMap<string, string>
  readonly reads: () => number
  readonly writes: () => number
  /** Everything that was written of anything: keys and values. */
  readonly written: () => string
}

export function sharedStore(): SharedStore {
  const inner = openMemoryStore({ bytesMax: 1024 * 1024, lifetimeMs: 0 })
  const learnt = new Map<string, string>()
  const written: string[] = []
  let reads = 0
  let writes = 0
  return {
    learnt,
    reads: () => reads,
    writes: () => writes,
    written: () => written.join('\n'),
    store: {
      ...inner,
      getFirst: (keys) => {
        if (keys.some(isLearnt)) reads += 1
        return inner.getFirst(keys)
      },
      putIfAbsent: (key, value, group) => {
        written.push(key, value)
        return inner.putIfAbsent(key, value, group)
      },
      put: (entries) => {
        for (const { key, value } of entries) {
          written.push(key, value)
          if (!isLearnt(key)) continue
          writes += 1
          learnt.set(key, value)
        }
        return inner.put(entries)
      },
      close: async () => {},
    },
  }
}

export const isLearnt = (key: string): boolean => key.startsWith('model:')
