import { journalRowsMax } from './journal-rows-max.ts'
import { connectToRedis, type RedisConnection } from './redis-connection.ts'
import { redisJournals } from './redis-journals.ts'
import {
  deleteGroupScript,
  deleteScript,
  firstScript,
  leaseScript,
  prefix,
  releaseScript,
  writeScript,
} from './redis-scripts.ts'
import type { Store } from './store.ts'

export type RedisStoreOptions = {
  /** `redis://` or `rediss://`, with user and password where the server wants them. */
  readonly url: string
  /** How much is kept, in bytes of the server's memory, about; beyond it what was written longest ago goes. Journals come on top. */
  readonly bytesMax: number
  /** How long a value is kept after it was last written, in milliseconds; 0: for ever. */
  readonly lifetimeMs: number
}

/** A store on a Redis-compatible server, which all replicas share. */
export async function openRedisStore({ url, bytesMax, lifetimeMs }: RedisStoreOptions): Promise<Store> {
  const connection = await connectToRedis(url)
  const { run } = connection
  const journals = redisJournals(connection, { rowsMax: journalRowsMax(bytesMax), lifetimeMs })
  const limits = [String(Math.ceil(lifetimeMs)), String(bytesMax)]

  async function put(key: string, value: string, group = ''): Promise<void> {
    await run(writeScript, [key, value, group, ...limits, '0'])
  }

  return {
    name: connection.name,
    getFirst: async (keys) => {
      if (keys.length === 0) return null
      const found = await run(firstScript, keys)
      if (!Array.isArray(found)) return null
      const [place, value]: readonly unknown[] = found
      return { index: Number(place) - 1, value: String(value) }
    },
    putIfAbsent: async (key, value, group = '') =>
      String(await run(writeScript, [key, value, group, ...limits, '1'])),
    put,
    putAll: async (entries) => {
      // They go out together: the server is waited for once.
      await Promise.all(entries.map(({ key, value, group }) => put(key, value, group)))
    },
    delete: async (keys) => {
      if (keys.length > 0) await run(deleteScript, keys)
    },
    appendRows: journals.appendRows,
    readRows: journals.readRows,
    deleteGroup: async (group) => {
      for (let total = await journals.deleteGroup(group); ;) {
        const [deleted, left] = numbers(await run(deleteGroupScript, [group]))
        total += deleted
        if (!(left > 0)) return total
      }
    },
    purge: async () => (await journals.purge()) + (await purge(connection)),
    lease: async (key, holder, leaseMs) =>
      (await run(leaseScript, [key, holder, String(Math.max(1, Math.ceil(leaseMs)))])) === 1,
    release: async (key, holder) => {
      await run(releaseScript, [key, holder])
    },
    close: async () => connection.close(),
  }
}

// --- internal ---

/** Keys that one step of a purge looks at; the server may hold those of others, too. */
const SCAN_KEYS = '1000'

async function purge({ command }: RedisConnection): Promise<number> {
  let values = 0
  for (let cursor = '0'; ;) {
    const page = await command(['SCAN', cursor, 'MATCH', `${prefix}*`, 'COUNT', SCAN_KEYS])
    const [next, found]: readonly unknown[] = Array.isArray(page) ? page : []
    const keys = Array.isArray(found) ? found.map(String) : []
    const valueKeys = keys.filter((key) => key.startsWith(`${prefix}value:`))
    const others = keys.filter((key) => !key.startsWith(`${prefix}value:`))
    // A key may turn up twice: what counts is what the server had of it.
    if (valueKeys.length > 0) values += Number(await command(['UNLINK', ...valueKeys]))
    if (others.length > 0) await command(['UNLINK', ...others])
    cursor = String(next)
    if (cursor === '0' || next === undefined) return values
  }
}

function numbers(reply: unknown): readonly [number, number] {
  const [first, second]: readonly unknown[] = Array.isArray(reply) ? reply : []
  return [Number(first), Number(second)]
}
