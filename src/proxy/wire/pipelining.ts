import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

export type PipeliningLimits = {
  /** Requests of one connection that are worked on at a time. */
  readonly atOnceMax: number
  /** Requests of all connections that were read and wait. */
  readonly waitingMax: number
}

/**
 * Bounds how many requests of one connection are worked on at a time, however many it sends before the first is answered.
 * What comes beyond is not read from the connection; only what was read already waits here, as requests that nobody has
 * looked at, and takes no place. A connection with which too many would wait is closed. When a connection closes, all
 * answers to it do.
 */
export function boundPipelining(
  listener: RequestListener,
  { atOnceMax, waitingMax }: PipeliningLimits = defaults,
): RequestListener {
  const connections = new WeakMap<Socket, Connection>()
  let waitingTotal = 0

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket)
    if (known !== undefined) return known
    const connection: Connection = { running: new Set(), waiting: [], goesOn: false }
    connections.set(socket, connection)
    // Node's parser has a connection read on behind every request, at once and a moment later.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause()
    })
    socket.once('close', () => {
      waitingTotal -= connection.waiting.length
      connection.waiting = []
      setImmediate(closeForgotten, connection.running)
    })
    return connection
  }

  function begin(connection: Connection, { incoming, outgoing }: Exchange): void {
    connection.running.add(outgoing)
    outgoing.once('close', () => {
      connection.running.delete(outgoing)
      if (connection.waiting.length === 0 || connection.goesOn) return
      connection.goesOn = true
      // Not at once: a thousand refusals in a row would keep everybody else waiting.
      setImmediate(goOn, connection, incoming.socket)
    })
    listener(incoming, outgoing)
  }

  function goOn(connection: Connection, socket: Socket): void {
    connection.goesOn = false
    const next = connection.waiting.splice(0, atOnceMax - connection.running.size)
    waitingTotal -= next.length
    for (const exchange of next) begin(connection, exchange)
    if (connection.waiting.length === 0) socket.resume()
  }

  return function takeInTurn(incoming, outgoing) {
    const { socket } = incoming
    if (socket.destroyed) return
    const connection = connectionOf(socket)
    if (connection.running.size < atOnceMax && connection.waiting.length === 0) {
      begin(connection, { incoming, outgoing })
      return
    }
    connection.waiting.push({ incoming, outgoing })
    waitingTotal += 1
    socket.pause()
    if (waitingTotal > waitingMax) socket.destroy()
  }
}

// --- internal ---

/**
 * Clients that send ahead at all send a few requests. What is read at once is 64 kB, in which the smallest requests are two
 * to three thousand; each of them waits in about two kilobytes.
 */
const defaults: PipeliningLimits = { atOnceMax: 16, waitingMax: 8_192 }

type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }

type Connection = {
  readonly running: Set<ServerResponse>
  waiting: Exchange[]
  /** Whether it is to go on with what waits in a moment. */
  goesOn: boolean
}

/** Node 22 says nothing to the answers behind the one that was under way. */
function closeForgotten(running: ReadonlySet<ServerResponse>): void {
  for (const outgoing of running) {
    outgoing.destroy()
    outgoing.emit('close')
  }
}
