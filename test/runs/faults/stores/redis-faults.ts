import { connect, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { freePort } from '../../../support/free-port.ts'
import { redisProgram, redisServer, withoutRedis, type RedisServer } from '../../../support/redis-server.ts'
import type { FailingStore, StoreFault } from './store-stand.ts'

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

// --- internal ---

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
