import { connectToRedis, type RedisConnection } from './redis-connection.ts'
import { redisJournals } from './redis-journals.ts'
import {
  deleteGroupScript,
  firstScript,
  leaseScript,
  prefix,
  releaseScript,
  writeScript,
} from './redis-scripts.ts'
import type { Store, StoreLimits } from './store.ts'

export type RedisStoreOptions = StoreLimits & {
  /** `redis://` or `rediss://`, with user and password if the server wants them. */
  readonly url: string
}

/** A store on a Redis-compatible server, which all replicas share. */
export async function openRedisStore({ url, bytesMax, lifetimeMs }: RedisStoreOptions): Promise<Store> {
  const connection = await connectToRedis(url)
  const { run } = connection
  const journals = redisJournals(connection, { bytesMax, lifetimeMs })
  const limits = [String(Math.ceil(lifetimeMs)), String(bytesMax)]

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
    put: async (entries) => {
      // All are sent before the first is answered: the server is waited for once.
      await Promise.all(
        entries.map(({ key, value, group = '', yields = false }) =>
          run(writeScript, [key, value, group, ...limits, yields ? '1' : '0']),
        ),
      )
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
    purge: () => purge(connection),
    lease: async (key, holder, leaseMs) =>
      (await run(leaseScript, [key, holder, String(Math.max(1, Math.ceil(leaseMs)))])) === 1,
    release: async (key, holder) => {
      await run(releaseScript, [key, holder])
    },
    close: async () => connection.close(),
  }
}

// --- internal ---

/** Keys that one step of a purge looks at, those of other programs included. */
const SCAN_KEYS = '1000'

async function purge({ command }: RedisConnection): Promise<number> {
  let total = 0
  for (let cursor = '0'; ;) {
    const page = await command(['SCAN', cursor, 'MATCH', `${prefix}*`, 'COUNT', SCAN_KEYS])
    const [next, found]: readonly unknown[] = Array.isArray(page) ? page : []
    const keys = Array.isArray(found) ? found.map(String) : []
    const { value = [], journal = [], other = [] } = Object.groupBy(keys, kindOf)
    for (const key of journal) total += Number(await command(['XLEN', key]))
    // A scan may give a key twice: the server's count of deleted ones is right.
    if (value.length > 0) total += Number(await command(['UNLINK', ...value]))
    const others = [...journal, ...other]
    if (others.length > 0) await command(['UNLINK', ...others])
    cursor = String(next)
    if (cursor === '0' || next === undefined) return total
  }
}

function kindOf(key: string): 'value' | 'journal' | 'other' {
  if (key.startsWith(`${prefix}value:`)) return 'value'
  return key.startsWith(`${prefix}journal:`) ? 'journal' : 'other'
}

function numbers(reply: unknown): readonly [number, number] {
  const [first, second]: readonly unknown[] = Array.isArray(reply) ? reply : []
  return [Number(first), Number(second)]
}
