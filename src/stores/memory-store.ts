import { LRUCache } from 'lru-cache'
import { journalRowsMax } from './journal-rows-max.ts'
import { memoryJournals } from './memory-journals.ts'
import type { Store } from './store.ts'

export type MemoryStoreOptions = {
  /** How much is kept, in characters of keys and values; beyond it the least recently used go. Journals come on top. */
  readonly charsMax: number
  /** How long a value is kept after it was last written, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}

/** A store that lives as long as the process. */
export function openMemoryStore({ charsMax, lifetimeMs }: MemoryStoreOptions): Store {
  const groups = new Map<string, Set<string>>()
  const entries = new LRUCache<string, Entry>({
    maxSize: charsMax,
    sizeCalculation: ({ value, group }, key) => Math.max(1, key.length + value.length + (group?.length ?? 0)),
    ttl: lifetimeMs,
    dispose: ({ group }, key) => leaveGroup(groups, group, key),
  })
  const leases = new LRUCache<string, string>({ max: LEASES_MAX })
  const journals = memoryJournals({ rowsMax: journalRowsMax(charsMax), lifetimeMs })

  function set(key: string, value: string, group: string | undefined): void {
    entries.set(key, { value, group })
    // A value that is larger than the store is not kept.
    if (group === undefined || !entries.has(key)) return
    const keys = groups.get(group) ?? new Set()
    groups.set(group, keys.add(key))
  }

  return {
    name: 'memory:',
    getFirst: async (keys) => {
      for (const [index, key] of keys.entries()) {
        const entry = entries.get(key)
        if (entry !== undefined) return { index, value: entry.value }
      }
      return null
    },
    putIfAbsent: async (key, value, group) => {
      const standing = entries.get(key)
      if (standing !== undefined) return standing.value
      set(key, value, group)
      return value
    },
    put: async (key, value, group) => set(key, value, group),
    putAll: async (written) => {
      for (const { key, value, group } of written) set(key, value, group)
    },
    delete: async (keys) => {
      for (const key of keys) entries.delete(key)
    },
    appendRows: journals.appendRows,
    readRows: journals.readRows,
    deleteGroup: async (group) => {
      const keys = [...(groups.get(group) ?? [])].filter((key) => entries.has(key))
      for (const key of keys) entries.delete(key)
      return keys.length + (await journals.deleteGroup(group))
    },
    purge: async () => {
      entries.purgeStale()
      const { size } = entries
      entries.clear()
      leases.clear()
      return size + (await journals.purge())
    },
    lease: async (key, holder, leaseMs) => {
      const other = leases.get(key)
      if (other !== undefined && other !== holder) return false
      leases.set(key, holder, { ttl: leaseMs })
      return true
    },
    release: async (key, holder) => {
      if (leases.get(key) === holder) leases.delete(key)
    },
    close: async () => {
      entries.clear()
      leases.clear()
      await journals.purge()
    },
  }
}

// --- internal ---

type Entry = { readonly value: string; readonly group: string | undefined }

/** Each is held by a summary that is being written. */
const LEASES_MAX = 10_000

function leaveGroup(groups: Map<string, Set<string>>, group: string | undefined, key: string): void {
  if (group === undefined) return
  const keys = groups.get(group)
  keys?.delete(key)
  if (keys?.size === 0) groups.delete(group)
}
