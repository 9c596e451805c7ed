import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'

/**
 * A port of 127.0.0.1 that nobody listens on, for a server that cannot choose one itself, or whose address is used
 * while it is closed.
 *
 * One that the system chose and that was let go again may at once be given to a server of another test, which then
 * answers in this one's place. So these lie below what systems give away, and each worker has a range of its own.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < RANGE; tries += 1) {
    const port = FIRST + ((worker - 1) % WORKERS) * RANGE + (next % RANGE)
    next += 1
    if (await isFree(port)) return port
  }
  throw new Error(
    `None of the ${RANGE} ports of worker ${worker} is free: end what listens from ${FIRST} on.`,
  )
}

/** Lets a server listen, on a port that the system chooses unless one is given, and tells on which. */
export async function listen(server: Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** Closes a server and all that is open on it. */
export async function closeAll(server: HttpServer): Promise<void> {
  // One that is closed already says so to this callback.
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeAllConnections()
  await closed
}

const FIRST = 12_000

/** So many workers have ports of their own; with more, two share a range. */
const WORKERS = 20

/** Ports of a worker. Linux gives away those from 32,768 on, unless it is set up otherwise. */
const RANGE = 1_000

const worker = Number(process.env['VITEST_POOL_ID'] ?? 1)

// Two runs on one machine do not begin at the same port.
let next = Math.floor(Math.random() * RANGE)

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
