import { createServer, type Socket } from 'node:net'
import { freePort, listen } from '../../../support/free-port.ts'

/** A request as it came off the wire, whole. */
export type RawRequest = { readonly body: Buffer }

/** What an upstream does with a connection once a request has come on it. */
export type Play = (socket: Socket, request: RawRequest) => void | Promise<void>

export type RawUpstream = Awaited<ReturnType<typeof rawUpstream>>

/** An upstream that speaks in bytes: a server that knows no HTTP but where a request ends. */
export async function rawUpstream(first: Play, isClosedOnce = false) {
  const requests: RawRequest[] = []
  const sockets = new Set<Socket>()
  let play = first
  let playEarly: ((socket: Socket) => void) | null = null

  function serve(socket: Socket): void {
    let unread = Buffer.alloc(0)
    let isEarlyOver = false
    sockets.add(socket)
    socket.setNoDelay(true)
    // Whoever cuts a connection here is met by errors there.
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.on('data', (piece) => {
      unread = Buffer.concat([unread, piece])
      if (playEarly !== null && !isEarlyOver && unread.includes('\r\n\r\n')) {
        isEarlyOver = true
        playEarly(socket)
      }
      const request = wholeRequest(unread)
      if (request === null || playEarly !== null) return
      unread = Buffer.alloc(0)
      requests.push(request)
      void play(socket, request)
    })
  }

  let server = createServer(serve)
  // An address that is used while nobody listens there has to stay nobody's.
  let port = isClosedOnce ? await freePort() : 0
  const open = async () => {
    server = createServer(serve)
    port = await listen(server, port)
  }
  const close = async () => {
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await open()
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    /** Takes the place of what it did so far. */
    plays: (next: Play) => void (play = next),
    /** Acts as soon as the head of a request has come, its body unread; null: waits for the body. */
    playsEarly: (next: typeof playEarly) => void (playEarly = next),
    connections: () => sockets.size,
    open,
    /** Nobody listens any more; its port stays nobody's. */
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Requests that state their length, as Foldgate sends them; null: not all of it is there. */
function wholeRequest(bytes: Buffer): RawRequest | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = bytes.subarray(0, end).toString('latin1')
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
  const body = bytes.subarray(end + 4)
  return body.length < length ? null : { body }
}
