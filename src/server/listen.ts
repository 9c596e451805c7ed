import type { Server } from 'node:http'

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
export type AddressFlags = { readonly host: string; readonly port: string }

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

/** Listens and returns the port in use. Rejects with a `ListenError` that names the flag to change. */
export function listen(
  server: Server,
  { host, port }: ListenAddress,
  flags: AddressFlags,
): Promise<ListenAddress> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      reject(new ListenError(explain(error, { host, port }, flags), error))
    server.once('error', fail)
    server.listen({ host, port }, () => {
      server.off('error', fail)
      const address = server.address()
      resolve({ host, port: typeof address === 'object' && address !== null ? address.port : port })
    })
  })
}

// --- internal ---

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
