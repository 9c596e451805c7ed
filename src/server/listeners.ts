import type { Server } from 'node:http'
import type { Settings } from '../config/settings.ts'
import type { Lifecycle } from './drain.ts'

/** The address of a place, as a URL without a path. */
export function addressOf({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Where a server listens, under a name that reaches this machine. */
export function reachable(server: Server, { host, port }: ListenAddress): ListenAddress {
  const address = server.address()
  return {
    host: host === '0.0.0.0' || host === '::' ? 'localhost' : host,
    port: typeof address === 'object' && address !== null ? address.port : port,
  }
}

/** Where an app listens. */
export type Listening = ListenAddress & {
  /** The admin listener; null where there is none. */
  readonly admin: ListenAddress | null
  /** Why there is none although there should be, and what to do about it; null where all is as it should be. */
  readonly adminTrouble: string | null
}

export type ListeningApp = ReturnType<typeof openListeners>

export type ListenersOptions = {
  readonly settings: Pick<Settings, 'host' | 'port' | 'admin' | 'drain'>
  /** For clients. */
  readonly server: Server
  readonly adminServer: Server
  /** Whether that one takes any free port where its own is taken. */
  readonly anyAdminPort: boolean
  readonly lifecycle: Lifecycle
  /** Ends everything behind the servers. */
  readonly end: () => Promise<void>
}

/** The two listeners of an app, from their beginning to their end. */
export function openListeners(options: ListenersOptions) {
  const { settings, server, adminServer, lifecycle, end } = options
  return {
    /** Rejects with a `ListenError` where clients cannot be listened to; without the admin listener it goes on. */
    listen: async (): Promise<Listening> => {
      const place = await listen(server, settings, { host: '--host', port: '--port (FOLDGATE_PORT)' })
      return { ...place, ...(await listenForAdmin(options)) }
    },
    /** How many requests are running. */
    running: (): number => lifecycle.running,
    /** Says from now on that it is not ready, and still serves. */
    leave: (): void => lifecycle.leave(),
    /**
     * Ends the app in order; resolves with the number of requests that had to be cut off. `isLeaving`: whether new
     * connections are served for `drain.delay_s` before, since a load balancer may still send some.
     */
    drain: async (isLeaving: boolean): Promise<number> => {
      const { delay_s: delay, timeout_s: timeout } = settings.drain
      const servers = [server, adminServer]
      const cutOff = await lifecycle.drain(servers, isLeaving ? delay * 1000 : 0, timeout * 1000)
      await end()
      return cutOff
    },
    /** Ends the app at once. */
    close: async (): Promise<void> => {
      await Promise.all([closeAtOnce(server), closeAtOnce(adminServer)])
      await end()
    },
  }
}

export type ListenAddress = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
}

/** An address as programs of this machine reach it: one that stands for all of its addresses is none to ask. */
export function onThisMachine({ host, port }: ListenAddress): ListenAddress {
  return { host: host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port }
}

/** The flags that set an address, for messages about one that cannot be had. */
type AddressFlags = { readonly host: string; readonly port: string }

/** A port or address that cannot be listened on. The message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  /** Whether somebody else listens there. */
  readonly isTaken: boolean

  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(message, { cause })
    this.isTaken = cause.code === 'EADDRINUSE'
  }
}

/** @internal exported for tests. Listens and returns the port in use. Rejects with a `ListenError` that names the flag to change. */
export function listen(
  server: Server,
  { host, port }: ListenAddress,
  flags: AddressFlags,
): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      // Else each try that fails would leave one behind.
      server.off('listening', succeed)
      reject(new ListenError(explain(error, { host, port }, flags), error))
    }
    const succeed = () => {
      server.off('error', fail)
      resolve({ host, port: reachable(server, { host, port }).port })
    }
    server.once('error', fail)
    server.listen({ host, port }, succeed)
  })
}

/** Ends a server, whether it listens or not. */
export async function closeAtOnce(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
}

// --- internal ---

/** Clients are served without it: a second Foldgate on a machine finds the port taken. */
async function listenForAdmin({
  settings: { admin: address },
  adminServer,
  anyAdminPort,
}: ListenersOptions): Promise<Pick<Listening, 'admin' | 'adminTrouble'>> {
  if (address.port === 0) return { admin: null, adminTrouble: null }
  const flags = { host: '--admin-host', port: '--admin-port (FOLDGATE_ADMIN_PORT)' }
  try {
    const admin = await listen(adminServer, address, flags)
    return { admin, adminTrouble: null }
  } catch (error) {
    if (error instanceof ListenError && anyAdminPort)
      return { admin: await listen(adminServer, { ...address, port: 0 }, flags), adminTrouble: null }
    if (error instanceof ListenError) return { admin: null, adminTrouble: error.message }
    throw error
  }
}

function explain(error: NodeJS.ErrnoException, { host, port }: ListenAddress, flags: AddressFlags): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another program. Choose another one with ${flags.port}.`
    case 'EACCES':
      return `Port ${port} may not be opened by this user. Choose one above 1023 with ${flags.port}.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine. Choose another one with ${flags.host}.`
    case undefined:
    default:
      return `Cannot listen on ${host}:${port} (${error.code ?? error.message}).`
  }
}
