import { truncateSync, closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connect, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { expect } from 'vitest'
import { openStore, type OpenedStore } from '../../../src/stores/open-store.ts'
import { eventually } from '../../support/eventually.ts'
import { completion, fakeUpstream, type FakeUpstream } from '../../support/fake-upstream.ts'
import type { Row } from './fault.ts'
import {
  startWatched,
  type Watched,
  eventsUpTo,
  toldText,
  whatWasTold,
  withoutJournal,
  withoutReasons,
  withoutWaits,
  type Told,
} from './watched.ts'
import { conversationOfNext, lostOf, send, untilUsed, type Sent } from './conversation-walk.ts'
import { smallWindow } from './wire/requests.ts'
import { journalNames } from '../../../src/stores/store.ts'
import { freePort } from '../../support/free-port.ts'
import { redisProgram, redisServer, withoutRedis, type RedisServer } from '../../support/redis-server.ts'

/** A store that is there, and how it fails. */
export type FailingStore = {
  /** What `store.url` says. */
  readonly url: string
  readonly breaks: () => void | Promise<void>
  /** Puts it right again; null: it stays as it is. */
  readonly mends: (() => void | Promise<void>) | null
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export type StoreFault = {
  readonly name: string
  readonly open: () => Promise<FailingStore>
  /** Whether Foldgate notices: requests are made until it has. */
  readonly isNoticed: boolean
  /** Whether it is chance in which words the fault is told: they are left out then. */
  readonly reasonsVary?: boolean
}

/**
 * A conversation begins before the fault, goes on while it lasts and after it, and once more with another Foldgate on the
 * same store, as after a restart.
 */
export async function observeStoreFault(fault: StoreFault): Promise<readonly Row[]> {
  await using upstream = await fakeUpstream(completion('Understood.'))
  await using failing = await fault.open()
  const opened = await openAt(failing.url)
  const watched = await startOn(opened, upstream)
  let exchanges = 0
  const goOn = (url: string) => {
    exchanges += 1
    return send(url, upstream, exchanges)
  }
  let told: Told
  let first: Sent
  let during: Sent
  let after: Sent
  try {
    const { foldgate, adminOrigin } = watched
    first = await goOn(foldgate.url)
    await eventsUpTo(adminOrigin, await conversationOfNext(foldgate.url))
    await failing.breaks()
    during = await goOn(foldgate.url)
    if (fault.isNoticed) {
      await eventually(async () => {
        await goOn(foldgate.url)
        expect((await withoutJournal(adminOrigin, foldgate.log)).counted).not.toEqual([])
      })
    }
    await failing.mends?.()
    if (failing.mends !== null) await untilUsed(foldgate.url, adminOrigin)
    after = await goOn(foldgate.url)
    told =
      failing.mends === null
        ? await withoutJournal(adminOrigin, foldgate.log)
        : await whatWasTold(adminOrigin, await conversationOfNext(foldgate.url), foldgate.log)
  } finally {
    await watched.foldgate.close()
  }
  const restarted = await afterRestart(failing.url, upstream, goOn)
  const lost = lostOf(first, [during, after, restarted], { mayMissId: fault.isNoticed })
  const recorded = toldText(fault.reasonsVary === true ? withoutReasons(told) : withoutWaits(told))
  return [{ met: 'compacted', seen: '`200`', recorded, lost }]
}

/** What may happen to a file that is in use. */
export const sqliteFaults: readonly StoreFault[] = [
  {
    name: 'another program takes the file, and lets it go',
    isNoticed: true,
    open: () =>
      withFile((path) => {
        let other: DatabaseSync | null = null
        return {
          breaks: () => {
            other = new DatabaseSync(path)
            other.exec('BEGIN EXCLUSIVE')
          },
          mends: () => other?.close(),
        }
      }),
  },
  {
    name: 'its pages are overwritten with garbage',
    isNoticed: true,
    open: () => withFile((path) => ({ breaks: () => overwrite(path), mends: null })),
  },
  {
    name: 'it is emptied',
    isNoticed: true,
    open: () =>
      withFile((path) => ({
        breaks: () => {
          settle(path)
          // In the same tick: a write of Foldgate's own in between would leave a log, and SQLite another message.
          truncateSync(path, 0)
        },
        mends: null,
      })),
  },
  {
    name: 'it is deleted',
    isNoticed: false,
    open: () =>
      withFile((path) => ({
        breaks: async () => {
          for (const end of ['', '-wal', '-shm']) await rm(path + end)
        },
        mends: null,
      })),
  },
]

/** The clock jumps between two requests. */
export const sqliteClockFaults: readonly StoreFault[] = [
  {
    name: 'of SQLite it goes forward by a year: every row has outlived its time',
    isNoticed: false,
    open: () => withFile((path) => ({ breaks: () => shiftRows(path, -YEAR_MS), mends: null })),
  },
  {
    name: 'of SQLite it goes back by a year: every row is from the future',
    isNoticed: false,
    open: () => withFile((path) => ({ breaks: () => shiftRows(path, YEAR_MS), mends: null })),
  },
]

/** Why there is no Redis to fail; null where there is. */
export const redisImpossible = redisProgram === undefined ? withoutRedis.trim() : null

/** What may happen to a Redis-compatible server that is in use, or to the way to it. */
export const redisFaults: readonly StoreFault[] = [
  {
    name: 'it is killed, and comes back empty',
    isNoticed: true,
    reasonsVary: true,
    open: () => withServer((server) => ({ breaks: server.kill, mends: server.restart })),
  },
  {
    name: 'it stands still, and goes on',
    isNoticed: true,
    reasonsVary: true,
    open: () => withServer((server) => ({ breaks: server.freeze, mends: server.thaw })),
  },
  {
    name: 'its memory is full, and room is made',
    isNoticed: true,
    open: () =>
      withServer((server) => ({
        breaks: async () =>
          void (await server.ask('CONFIG SET maxmemory-policy noeviction', 'CONFIG SET maxmemory 1')),
        mends: async () => void (await server.ask('CONFIG SET maxmemory 0')),
      })),
  },
  {
    name: 'it becomes a copy that cannot be written to, and is made the first again',
    isNoticed: true,
    open: () =>
      withServer((server) => ({
        breaks: async () => void (await server.ask('REPLICAOF 127.0.0.1 1')),
        mends: async () => void (await server.ask('REPLICAOF NO ONE')),
      })),
  },
  {
    name: 'every connection to it is reset',
    isNoticed: true,
    reasonsVary: true,
    open: () => withWay('reset'),
  },
  { name: 'it answers garbage', isNoticed: true, reasonsVary: true, open: () => withWay('garbage') },
  { name: 'nothing comes through to it', isNoticed: true, reasonsVary: true, open: () => withWay('silence') },
]

/** Takes what is in the write-ahead log into the file, so that it is the file that is read. */
function settle(path: string): void {
  const other = new DatabaseSync(path)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  other.close()
}

/** All but the first page, which says that it is a database; at once, so that no write of Foldgate's own comes in between. */
export function overwrite(path: string): void {
  settle(path)
  const file = openSync(path, 'r+')
  try {
    const { size } = fstatSync(file)
    writeSync(file, Buffer.alloc(size - PAGE_BYTES, 'garbage '), 0, size - PAGE_BYTES, PAGE_BYTES)
  } finally {
    closeSync(file)
  }
}

// --- internal ---

function openAt(url: string): Promise<OpenedStore> {
  const settings = { url, ttl_days: 7, max_mb: 64, required: false, encrypt_key_env: null, encrypt_key: null }
  return openStore(settings, { env: {}, platform: process.platform })
}

function startOn({ store }: OpenedStore, upstream: FakeUpstream): Promise<Watched> {
  return startWatched({
    upstream: upstream.url,
    store,
    profile: smallWindow,
  })
}

async function afterRestart(
  url: string,
  upstream: FakeUpstream,
  goOn: (url: string) => Promise<Sent>,
): Promise<Sent> {
  const opened = await openAt(url)
  const { foldgate } = await startOn(opened, upstream)
  try {
    return await goOn(foldgate.url)
  } finally {
    await foldgate.close()
  }
}

async function withFile(
  fails: (path: string) => Pick<FailingStore, 'breaks' | 'mends'>,
): Promise<FailingStore> {
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-fault-'))
  const path = join(folder, 'store.sqlite')
  return {
    url: `sqlite:${path}`,
    ...fails(path),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Moves the ends of all rows: the clock of a store is the system's, which stays where it is here. */
function shiftRows(path: string, byMs: number): void {
  const other = new DatabaseSync(path)
  for (const table of ['entries', 'leases', ...journalNames.map((name) => `journal_${name}`)]) {
    other.prepare(`UPDATE ${table} SET expires_ms = expires_ms + ?`).run(byMs)
  }
  other.close()
}

const YEAR_MS = 365 * 86_400_000

async function withServer(
  fails: (server: RedisServer) => Pick<FailingStore, 'breaks' | 'mends'>,
): Promise<FailingStore> {
  const server = await redisServer()
  return { url: server.url, ...fails(server), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** A server whose clients go through a way that fails for a while. */
async function withWay(failure: 'reset' | 'garbage' | 'silence'): Promise<FailingStore> {
  const server = await redisServer()
  const sockets = new Set<Socket>()
  let isBroken = false

  function pass(from: Socket, to: Socket, isAnswer: boolean): void {
    sockets.add(from)
    from.on('data', (piece) => {
      if (!isBroken) to.write(piece)
      else if (failure === 'garbage' && isAnswer) to.write('this is no answer\r\n')
      else if (failure === 'garbage') to.write(piece)
    })
    from.on('error', () => to.destroy())
    from.once('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }

  const way = createServer((client) => {
    if (isBroken && failure === 'reset') {
      client.resetAndDestroy()
      return
    }
    const onward = connect(server.port, '127.0.0.1')
    pass(client, onward, false)
    pass(onward, client, true)
  })
  const port = await freePort()
  await once(way.listen(port, '127.0.0.1'), 'listening')
  return {
    url: `redis://127.0.0.1:${port}`,
    breaks: () => {
      isBroken = true
      if (failure === 'reset') for (const socket of sockets) socket.resetAndDestroy()
    },
    mends: () => {
      isBroken = false
    },
    [Symbol.asyncDispose]: async () => {
      way.close()
      for (const socket of sockets) socket.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

const PAGE_BYTES = 4_096
