import type { Server } from 'node:http'

export type ListenOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** The flag and variable that set the port, for the message about a taken one. */
  readonly portFlag: string
  readonly portVariable: string
  readonly hostFlag: string
}

/** A port or address that cannot be listened on. The message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** Listens and returns the port in use. Rejects with a `ListenError` that names the flag to change. */
export function listen(server: Server, options: ListenOptions): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      reject(new ListenError(explain(error, options), { cause: error }))
    server.once('error', fail)
    server.listen({ host: options.host, port: options.port }, () => {
      server.off('error', fail)
      const address = server.address()
      const port = address === null || typeof address === 'string' ? options.port : address.port
      resolve({ host: options.host, port })
    })
  })
}

// --- internal ---

function explain(error: NodeJS.ErrnoException, options: ListenOptions): string {
  const { host, port, portFlag, portVariable, hostFlag } = options
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken by another program. Choose another one with ${portFlag} (${portVariable}).`
    case 'EACCES':
      return `Port ${port} may not be opened by this user. Choose one above 1023 with ${portFlag} (${portVariable}).`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine. Choose another one with ${hostFlag}.`
    case undefined:
    default:
      return `Cannot listen on ${host}:${port} (${error.code ?? error.message}).`
  }
}
