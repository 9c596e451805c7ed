import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/**
 * Bounds how many requests of one connection are worked on at a time, however many it sends before the first is answered.
 * What comes beyond is not read from the connection; only what was read already waits here, as requests that nobody has
 * looked at, and takes no place. A connection with which too many would wait is closed.
 */
export function boundPipelining(
  listener: RequestListener,
  limits: PipeliningLimits = defaults,
): RequestListener {
  const { atOnceMax, waitingMax } = limits
  const connections = new WeakMap<Socket, Connection>()
  let waitingTotal = 0

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket)
    if (known !== undefined) return known
    const connection: Connection = { running: 0, waiting: [] }
    connections.set(socket, connection)
    return connection
  }

  function begin(connection: Connection, incoming: IncomingMessage, outgoing: ServerResponse): void {
    connection.running += 1
    outgoing.once('close', () => {
      connection.running -= 1
      if (connection.waiting.length > 0) goOn(connection, incoming.socket)
    })
    listener(incoming, outgoing)
  }

  function goOn(connection: Connection, socket: Socket): void {
    while (connection.running < atOnceMax && !socket.destroyed) {
      const next = connection.waiting.shift()
      if (next === undefined) break
      waitingTotal -= 1
      begin(connection, next.incoming, next.outgoing)
    }
    if (connection.waiting.length === 0) socket.resume()
  }

  function letWait(connection: Connection, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming
    if (!watched.has(socket)) {
      watched.add(socket)
      // Node's parser has a connection read on behind every request, at once and a moment later.
      socket.on('resume', () => {
        if (connection.waiting.length > 0) socket.pause()
      })
      socket.once('close', () => {
        waitingTotal -= connection.waiting.length
        connection.waiting = []
      })
    }
    connection.waiting.push({ incoming, outgoing })
    waitingTotal += 1
    socket.pause()
    if (waitingTotal > waitingMax) socket.destroy()
  }
  const watched = new WeakSet<Socket>()

  return function takeInTurn(incoming, outgoing) {
    const connection = connectionOf(incoming.socket)
    if (connection.running < atOnceMax && connection.waiting.length === 0)
      begin(connection, incoming, outgoing)
    else if (!incoming.socket.destroyed) letWait(connection, incoming, outgoing)
  }
}

// --- internal ---

type PipeliningLimits = {
  /** Requests of one connection that are worked on at a time. */
  readonly atOnceMax: number
  /** Requests of all connections that were read and wait. */
  readonly waitingMax: number
}

/**
 * Clients that send ahead at all send a few requests. What is read at once is 64 kB, in which the smallest requests are two
 * to three thousand; each of them waits in about two kilobytes.
 */
const defaults: PipeliningLimits = { atOnceMax: 16, waitingMax: 8_192 }

type Connection = {
  running: number
  waiting: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }[]
}
