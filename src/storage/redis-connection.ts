import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { createClient, ErrorReply } from '@redis/client'
import { prefix } from './redis-scripts.ts'
import { NoAnswerError, StoreError, troubleOf, within } from './store-error.ts'

export type RedisConnection = Awaited<ReturnType<typeof connectToRedis>>

/**
 * Connects to a Redis-compatible server within a bounded time. Rejects with a `StoreError`. While the server is away every command
 * fails at once, none waits in line, and connecting is tried again and again.
 */
export async function connectToRedis(url: string) {
  const address = readAddress(url)
  let lastTrouble: unknown = null
  let client = start()
  let begunMs = performance.now()

  function start() {
    const started = createClient({
      socket: {
        ...address.place,
        connectTimeout: OPEN_MS,
        reconnectStrategy: (attempts) => Math.min(RECONNECT_MS_MIN * 2 ** attempts, RECONNECT_MS_MAX),
      },
      ...address.credentials,
      database: address.database,
      // The older protocol is understood by every server and by the proxies in front of them.
      RESP: 2,
      disableOfflineQueue: true,
      commandsQueueMaxLength: COMMANDS_MAX,
      disableClientInfo: true,
      maintNotifications: 'disabled',
    })
    // Without a listener an error would end the process. Commands that fail because of it reject by themselves.
    started.on('error', (error: unknown) => {
      lastTrouble = error
    })
    started.on('ready', () => {
      lastTrouble = null
    })
    return started
  }

  /** Gives up a connection whose server no longer answers, and all that waits on it. */
  function startAnew(): void {
    lastTrouble = new NoAnswerError('no answer within the time')
    client.destroy()
    client = start()
    begunMs = performance.now()
    client.connect().catch(ignored)
  }

  /** Sends a command as its words. */
  async function command(words: readonly string[]): Promise<unknown> {
    const asked = client
    try {
      return await within(COMMAND_MS, asked.sendCommand([...words]))
    } catch (error) {
      if (error instanceof NoAnswerError && asked === client) startAnew()
      // After a failover the old server may live on as a read-only copy, while its address leads to another one.
      const isOld = performance.now() - begunMs >= RECONNECT_MS_MAX
      if (troubleOf(error) === 'READONLY' && asked === client && isOld) startAnew()
      // Why no answer came the client does not know: its connection does.
      throw error instanceof ErrorReply || error instanceof NoAnswerError ? error : (lastTrouble ?? error)
    }
  }

  /** Resolves once the server has answered: a connection alone shows nothing. */
  async function answered(): Promise<void> {
    client.connect().catch(ignored)
    for (const beganMs = performance.now(); ;) {
      const leftMs = beganMs + OPEN_MS - performance.now()
      try {
        return await within(Math.max(1, leftMs), client.sendCommand(['PING']))
      } catch (error) {
        const reason = lastTrouble ?? error
        // A server that is loading its data answers soon; one that does not know our password never does.
        if (leftMs <= 0 || /^(?:NOAUTH|NOPERM|WRONGPASS)$/.test(troubleOf(reason))) throw reason
        await setTimeout(RECONNECT_MS_MIN)
      }
    }
  }

  try {
    await answered()
  } catch (error) {
    client.destroy()
    throw new StoreError(
      `${address.name} cannot be used (${troubleOf(error)}): see that a Redis-compatible server answers there, ` +
        'and that user and password in the address are right',
    )
  }

  return {
    /** The address, without user, password and query. */
    name: address.name,
    command,
    /** Runs a Lua script with these arguments. */
    run: async (script: string, words: readonly string[]): Promise<unknown> => {
      const rest = ['1', prefix, ...words]
      try {
        return await command(['EVALSHA', hash('sha1', script), ...rest])
      } catch (error) {
        // The server has not seen this script yet, or has been restarted since.
        if (error instanceof Error && error.message.startsWith('NOSCRIPT')) {
          return command(['EVAL', script, ...rest])
        }
        throw error
      }
    },
    // What was sent is answered first: one that is given up would be told as a failure.
    close: async (): Promise<void> => {
      lastTrouble = null
      await within(COMMAND_MS, client.close()).catch(ignored)
      client.destroy()
    },
  }
}

// --- internal ---

/** How long opening may take, in milliseconds: the start waits for it. */
const OPEN_MS = 2_000

/** How long a command may take, in milliseconds. */
const COMMAND_MS = 1_000

/** Commands that wait for their answers; further ones fail at once. */
const COMMANDS_MAX = 1_000

/** The pause before the next try to connect doubles from the one to the other, in milliseconds. */
const RECONNECT_MS_MIN = 50
const RECONNECT_MS_MAX = 1_000

const DEFAULT_PORT = 6379

/** The address may hold a password, and stands in no error. */
function readAddress(text: string) {
  const url = URL.parse(text)
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  const [, database] = /^\/?(\d{0,5})$/.exec(url?.pathname ?? '') ?? []
  const username = decoded(url?.username ?? '')
  const password = decoded(url?.password ?? '')
  if (url === null || host === '' || database === undefined || username === null || password === null) {
    throw new StoreError(
      'the address of the store is none: write redis://USER:PASSWORD@HOST:PORT/NUMBER, with all but the host ' +
        'optional, and %XX for special characters in user and password',
    )
  }
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port)
  return {
    name: `${url.protocol}//${url.hostname}:${port}${database === '' ? '' : `/${database}`}`,
    // A server of several tenants tells them apart by the name that a TLS client asks for; an IP address is no name.
    place:
      url.protocol === 'rediss:'
        ? { host, port, tls: true as const, ...(isIP(host) === 0 && { servername: host }) }
        : { host, port },
    credentials: {
      ...(username === '' ? {} : { username }),
      ...(password === '' ? {} : { password }),
    },
    database: Number(database),
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function ignored(): void {}
