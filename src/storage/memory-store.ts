import { LRUCache } from 'lru-cache'
import { lruCache } from '../caches.ts'
import {
  type JournalName,
  journalRowsMax,
  rowNumber,
  type Store,
  type StoreEntry,
  type StoreLimits,
} from './store.ts'

/** A store that lives as long as the process. Its size is counted in characters. */
export function openMemoryStore({ bytesMax, lifetimeMs }: StoreLimits): Store {
  const entries = new LRUCache<string, StoreEntry>({
    maxSize: bytesMax,
    sizeCalculation: ({ value, group = '' }, key) => Math.max(1, key.length + value.length + group.length),
    ttl: lifetimeMs,
    dispose: ({ group }, key) => {
      if (group === undefined) return
      const keys = groups.get(group)
      keys?.delete(key)
      if (keys?.size === 0) groups.delete(group)
    },
  })
  /** The keys of each group. */
  const groups = new Map<string, Set<string>>()
  const leases = lruCache<string>(LEASES_MAX)
  const journals = new Map<JournalName, Row[]>()
  const rowsMax = journalRowsMax(bytesMax)
  // Ids begin with the time: a client that has an id from an earlier process gets all rows of this one. No journal gets a
  // hundred rows a millisecond for long.
  let lastNumber = Date.now() * 100

  async function put(written: readonly StoreEntry[]): Promise<void> {
    for (const entry of written) {
      const { key, group, yields = false } = entry
      if (yields && entries.has(key)) continue
      entries.set(key, entry)
      // A value that is larger than the store is not kept.
      if (group === undefined || !entries.has(key)) continue
      groups.set(group, (groups.get(group) ?? new Set()).add(key))
    }
  }

  /** The rows of a journal that stand. */
  function rowsOf(journal: JournalName): readonly Row[] {
    const nowMs = performance.now()
    return (journals.get(journal) ?? []).filter(({ expiresMs }) => expiresMs > nowMs).slice(-rowsMax)
  }

  /** Deletes rows from all journals. Returns how many they were. */
  function deleteRows(isDeleted: (row: Row) => boolean): number {
    let deleted = 0
    for (const journal of journals.keys()) {
      const rows = rowsOf(journal)
      const kept = rows.filter((row) => !isDeleted(row))
      deleted += rows.length - kept.length
      journals.set(journal, kept)
    }
    return deleted
  }

  return {
    name: 'memory:',
    getFirst: (keys) => {
      for (const [index, key] of keys.entries()) {
        const entry = entries.get(key)
        if (entry !== undefined) return { index, value: entry.value }
      }
      return null
    },
    putIfAbsent: async (key, value, group) => {
      const standing = entries.get(key)
      if (standing === undefined) await put([{ key, value, ...(group !== undefined && { group }) }])
      return standing?.value ?? value
    },
    put,
    appendRows: async (journal, added) => {
      const rows = journals.get(journal) ?? []
      const expiresMs = lifetimeMs === 0 ? Infinity : performance.now() + lifetimeMs
      for (const row of added) rows.push({ ...row, number: ++lastNumber, expiresMs })
      // Not at every row, since the whole array is moved.
      if (rows.length > 2 * rowsMax) rows.splice(0, rows.length - rowsMax)
      journals.set(journal, rows)
    },
    readRows: async (journal, { from, beyond, limit }) => {
      const asked = rowNumber(beyond)
      const number = asked === null || asked > lastNumber ? null : asked
      const rows = rowsOf(journal)
      const page =
        from === 'oldest'
          ? rows.filter((row) => row.number > (number ?? 0)).slice(0, limit)
          : rows
              .filter((row) => row.number < (number ?? Infinity))
              .slice(-limit)
              .toReversed()
      return page.map(({ number: id, text }) => ({ id: String(id), text }))
    },
    deleteGroup: async (group) => {
      const keys = [...(groups.get(group) ?? [])].filter((key) => entries.has(key))
      for (const key of keys) entries.delete(key)
      return keys.length + deleteRows((row) => row.group === group)
    },
    purge: async () => {
      entries.purgeStale()
      const { size } = entries
      entries.clear()
      leases.clear()
      return size + deleteRows(() => true)
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
      journals.clear()
    },
  }
}

// --- internal ---

type Row = {
  readonly number: number
  readonly text: string
  readonly group?: string
  /** On the process's own clock, which never goes back. */
  readonly expiresMs: number
}

/** One for each summary that is being written. */
const LEASES_MAX = 10_000
