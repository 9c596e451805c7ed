import { connectToRedis, type RedisConnection } from './redis-connection.ts'
import {
  deleteGroupScript,
  firstScript,
  leaseScript,
  prefix,
  releaseScript,
  writeScript,
} from './redis-scripts.ts'
import {
  type JournalName,
  journalNames,
  type JournalRow,
  journalRowsMax,
  type Journals,
  type Store,
  type StoreLimits,
} from './store.ts'

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
    ...journals,
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
    close: connection.close,
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

/**
 * The journals of a store on a Redis-compatible server; a purge deletes them with all other keys. Each is a stream, whose
 * entries have a row's group, or an empty one, and its text. Ids begin with the server's time, which tells how old a row
 * is. `MINID` and exclusive ids need Redis 6.2: an older server refuses to add rows, so that it has none, and everything
 * else works there.
 */
function redisJournals(
  { command, run }: Pick<RedisConnection, 'command' | 'run'>,
  { bytesMax, lifetimeMs }: StoreLimits,
): Journals & Pick<Store, 'deleteGroup'> {
  const rowsMax = journalRowsMax(bytesMax)
  /** Rows from before this time have outlived theirs; in milliseconds. */
  const oldestMs = (): number => (lifetimeMs === 0 ? 0 : Math.max(0, Date.now() - Math.ceil(lifetimeMs) + 1))

  async function entriesAfter(
    journal: JournalName,
    beyond: string | null,
    limit: number,
  ): Promise<readonly Entry[]> {
    const start = beyond === null || timeOf(beyond) < oldestMs() ? String(oldestMs()) : `(${beyond}`
    return entriesIn(await command(['XRANGE', streamOf(journal), start, '+', 'COUNT', String(limit)]))
  }

  return {
    appendRows: async (journal, rows) => {
      if (rows.length === 0) return
      const words = rows.slice(-rowsMax).flatMap(({ text, group = '' }) => [group, text])
      const limits = [lifetimeMs, oldestMs(), rowsMax].map((each) => String(Math.ceil(each)))
      await run(appendRowsScript, [journal, ...limits, ...words])
    },
    readRows: async (journal, { from, beyond, limit }) => {
      const id = beyond !== null && isEntryId(beyond) ? beyond : null
      if (from === 'oldest') return entriesAfter(journal, id, limit)
      const end = id === null ? '+' : `(${id}`
      const words = ['XREVRANGE', streamOf(journal), end, String(oldestMs()), 'COUNT', String(limit)]
      return entriesIn(await command(words))
    },
    deleteGroup: async (group) => {
      let total = 0
      for (const journal of journalNames) {
        for (let beyond: string | null = null; ;) {
          const entries: readonly Entry[] = await entriesAfter(journal, beyond, STEP_ROWS)
          // Rows without a group have an empty one.
          const ids = entries.filter((entry) => group !== '' && entry.group === group).map(({ id }) => id)
          if (ids.length > 0) total += Number(await command(['XDEL', streamOf(journal), ...ids]))
          if (entries.length < STEP_ROWS) break
          beyond = entries.at(-1)?.id ?? null
        }
      }
      return total
    },
  }
}

type Entry = JournalRow & { readonly group: string }

/** Rows that are looked through at a time: the server serves no other client meanwhile. */
const STEP_ROWS = 500

/** An id may be ahead of our clock by this much, in milliseconds, since it comes from that of the server. */
const CLOCK_SKEW_MS = 3_600_000

/**
 * Adds rows, and deletes those that are too old or too many. Arguments: the journal, the lifetime of rows in milliseconds
 * or 0, the time before which they are too old, how many the journal may hold, then the group and the text of each.
 */
const appendRowsScript = `
local stream = KEYS[1] .. 'journal:' .. ARGV[1]
-- A server without room refuses these; behind a first deletion it would let everything through. Old rows are deleted in
-- the same command, so that a server which does not know MINID adds nothing.
for index = 5, #ARGV, 2 do
  redis.call('XADD', stream, 'MINID', '=', ARGV[3], '*', 'group', ARGV[index], 'text', ARGV[index + 1])
end
redis.call('XTRIM', stream, 'MAXLEN', ARGV[4])
if ARGV[2] ~= '0' then redis.call('PEXPIRE', stream, ARGV[2]) else redis.call('PERSIST', stream) end
return 0`

function streamOf(journal: JournalName): string {
  return `${prefix}journal:${journal}`
}

function timeOf(id: string): number {
  return Number(id.split('-')[0])
}

/**
 * Any other text would be refused by the server or mean something else to it, such as `-`. An id of the future comes from
 * another store.
 */
function isEntryId(text: string): boolean {
  return /^[1-9]\d{0,14}-\d{1,15}$/.test(text) && timeOf(text) <= Date.now() + CLOCK_SKEW_MS
}

function entriesIn(reply: unknown): readonly Entry[] {
  const found: readonly unknown[] = Array.isArray(reply) ? reply : []
  return found.map((entry) => {
    const [id, fields]: readonly unknown[] = Array.isArray(entry) ? entry : []
    const [, group, , text]: readonly unknown[] = Array.isArray(fields) ? fields : []
    return { id: String(id), group: String(group), text: String(text) }
  })
}
