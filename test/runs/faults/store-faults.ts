import { truncateSync, closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connect, createServer, type Socket } from 'node:net'
import { expect } from 'vitest'
import { openStore } from '../../../src/storage/open-store.ts'
import { eventually } from '../../support/eventually.ts'
import { completion, fakeUpstream, type FakeUpstream } from '../../support/fake-upstream.ts'
import type { Fault } from './fault.ts'
import {
  startWatched,
  eventsUpTo,
  toldText,
  whatWasTold,
  withoutJournal,
  withoutReasons,
  withoutWaits,
} from './watched.ts'
import { compactedRow, conversationOfNext, lostOf, send, untilUsed, type Sent } from './conversation-walk.ts'
import { smallWindow } from './wire/requests.ts'
import { journalNames } from '../../../src/storage/store.ts'
import { freePort, listen } from '../../support/free-port.ts'
import { redisProgram, redisServer, withoutRedis, type RedisServer } from '../../support/redis-server.ts'

/** A store that is there, and how it fails. */
type FailingStore = {
  /** What `store.url` says. */
  readonly url: string
  readonly breaks: () => void | Promise<void>
  /** Puts it right again; null: it stays as it is. */
  readonly mends: (() => void | Promise<void>) | null
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

type Failure = Pick<FailingStore, 'breaks' | 'mends'>

type StoreFault = {
  readonly open: () => Promise<FailingStore>
  /** Whether Foldgate notices: requests are made until it has. */
  readonly isNoticed: boolean
  /** Whether it is chance in which words the fault is told: they are left out then. */
  readonly reasonsVary?: boolean
}

/** A conversation begins before the fault, and goes on while it lasts and after it. */
async function live(
  { isNoticed }: StoreFault,
  failing: FailingStore,
  upstream: FakeUpstream,
  goOn: (url: string) => Promise<Sent>,
) {
  await using watched = await startOn(failing.url, upstream)
  const { adminOrigin } = watched
  const { url, log } = watched.foldgate
  const first = await goOn(url)
  await eventsUpTo(adminOrigin, await conversationOfNext(url))
  await failing.breaks()
  const during = await goOn(url)
  if (isNoticed) {
    await eventually(async () => {
      await goOn(url)
      expect((await withoutJournal(adminOrigin, log)).counted).not.toEqual([])
    })
  }
  await failing.mends?.()
  if (failing.mends !== null) await untilUsed(url, adminOrigin)
  const after = await goOn(url)
  const told =
    failing.mends === null
      ? await withoutJournal(adminOrigin, log)
      : await whatWasTold(adminOrigin, await conversationOfNext(url), log)
  return { first, later: [during, after], told }
}

const storeFault = (name: string, fault: StoreFault): Fault => ({
  name,
  observe: async () => {
    await using upstream = await fakeUpstream(completion('Understood.'))
    await using failing = await fault.open()
    let exchanges = 0
    const goOn = (url: string) => send(url, upstream, (exchanges += 1))
    const { first, later, told } = await live(fault, failing, upstream, goOn)
    // Another Foldgate on the same store, as after a restart.
    await using restarted = await startOn(failing.url, upstream)
    const lost = lostOf(first, [...later, await goOn(restarted.foldgate.url)], fault.isNoticed)
    const words = fault.reasonsVary === true ? withoutReasons : withoutWaits
    return [compactedRow(toldText(words(told)), lost)]
  },
})

const onFile = (name: string, isNoticed: boolean, fails: (path: string) => Failure): Fault =>
  storeFault(name, { isNoticed, open: () => withFile(fails) })

/** What may happen to a file that is in use. */
export const sqliteFaults: readonly Fault[] = [
  onFile('another program takes the file, and lets it go', true, (path) => {
    let other: DatabaseSync | null = null
    return {
      breaks: () => {
        other = new DatabaseSync(path)
        other.exec('BEGIN EXCLUSIVE')
      },
      mends: () => other?.close(),
    }
  }),
  onFile('its pages are overwritten with garbage', true, (path) => ({
    breaks: () => overwrite(path),
    mends: null,
  })),
  onFile('it is emptied', true, (path) => ({
    breaks: () => {
      settle(path)
      // In the same tick: a write of Foldgate's own in between would leave a log, and SQLite another message.
      truncateSync(path, 0)
    },
    mends: null,
  })),
  onFile('it is deleted', false, (path) => ({
    breaks: async () => {
      for (const end of ['', '-wal', '-shm']) await rm(path + end)
    },
    mends: null,
  })),
]

const YEAR_MS = 365 * 86_400_000

/** The clock jumps between two requests. */
export const sqliteClockFaults: readonly Fault[] = [
  onFile('of SQLite it goes forward by a year: every row has outlived its time', false, (path) => ({
    breaks: () => shiftRows(path, -YEAR_MS),
    mends: null,
  })),
  onFile('of SQLite it goes back by a year: every row is from the future', false, (path) => ({
    breaks: () => shiftRows(path, YEAR_MS),
    mends: null,
  })),
]

type OnServer = { readonly reasonsVary: boolean; readonly open: () => Promise<FailingStore> }

const onServer = (name: string, fault: OnServer): Fault => ({
  ...storeFault(name, { ...fault, isNoticed: true }),
  impossible: redisProgram === undefined ? withoutRedis.trim() : null,
})

/** What may happen to a Redis-compatible server that is in use, or to the way to it. */
export const redisFaults: readonly Fault[] = [
  onServer('it is killed, and comes back empty', {
    reasonsVary: true,
    open: () => withServer((server) => ({ breaks: server.kill, mends: server.restart })),
  }),
  onServer('it stands still, and goes on', {
    reasonsVary: true,
    open: () => withServer((server) => ({ breaks: server.freeze, mends: server.thaw })),
  }),
  onServer('its memory is full, and room is made', {
    reasonsVary: false,
    open: () =>
      withServer(({ ask }) => ({
        breaks: async () =>
          void (await ask('CONFIG SET maxmemory-policy noeviction', 'CONFIG SET maxmemory 1')),
        mends: async () => void (await ask('CONFIG SET maxmemory 0')),
      })),
  }),
  onServer('it becomes a copy that cannot be written to, and is made the first again', {
    reasonsVary: false,
    open: () =>
      withServer(({ ask }) => ({
        breaks: async () => void (await ask('REPLICAOF 127.0.0.1 1')),
        mends: async () => void (await ask('REPLICAOF NO ONE')),
      })),
  }),
  onServer('every connection to it is reset', { reasonsVary: true, open: () => withWay('reset') }),
  onServer('it answers garbage', { reasonsVary: true, open: () => withWay('garbage') }),
  onServer('nothing comes through to it', { reasonsVary: true, open: () => withWay('silence') }),
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

const PAGE_BYTES = 4_096

/** A Foldgate on the store at this address. */
async function startOn(url: string, upstream: FakeUpstream) {
  const settings = { url, ttl_days: 7, max_mb: 64, required: false, encrypt_key_env: null, encrypt_key: null }
  const { store } = await openStore(settings, { env: {}, platform: process.platform })
  return startWatched({ upstream: upstream.url, store, profile: smallWindow })
}

async function withFile(fails: (path: string) => Failure): Promise<FailingStore> {
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-fault-'))
  const path = join(folder, 'store.sqlite')
  const remove = () => rm(folder, { recursive: true, force: true })
  return { url: `sqlite:${path}`, ...fails(path), [Symbol.asyncDispose]: remove }
}

/** Moves the ends of all rows: the clock of a store is the system's, which stays where it is here. */
function shiftRows(path: string, byMs: number): void {
  const other = new DatabaseSync(path)
  for (const table of ['entries', 'leases', ...journalNames.map((name) => `journal_${name}`)])
    other.prepare(`UPDATE ${table} SET expires_ms = expires_ms + ?`).run(byMs)
  other.close()
}

async function withServer(fails: (server: RedisServer) => Failure): Promise<FailingStore> {
  const server = await redisServer()
  return { url: server.url, ...fails(server), [Symbol.asyncDispose]: server[Symbol.asyncDispose] }
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
      else if (failure === 'garbage') to.write(isAnswer ? 'this is no answer\r\n' : piece)
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
  await listen(way, port)
  return {
    url: `redis://127.0.0.1:${port}`,
    breaks: () => {
      isBroken = true
      if (failure === 'reset') for (const socket of sockets) socket.resetAndDestroy()
    },
    mends: () => void (isBroken = false),
    [Symbol.asyncDispose]: async () => {
      way.close()
      for (const socket of sockets) socket.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}
