import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

export type PipeliningLimits = {
  /** Requests of one connection that are worked on at a time. */
  readonly atOnceMax: number
  /** Requests of one connection that were read and wait. */
  readonly waitingHereMax: number
  /** Requests of all connections that were read and wait. */
  readonly waitingMax: number
}

/**
 * Bounds how many requests of one connection are worked on at a time, however many it sends before the first is answered.
 * What comes beyond is not read from the connection; only what was read already waits here, as requests that nobody has
 * looked at, and takes no place. A connection on which too many wait is closed, and where too many wait on all connections together,
 * the one on which most do. When a connection closes, all answers to it do.
 */
export function boundPipelining(
  listener: RequestListener,
  { atOnceMax, waitingHereMax, waitingMax }: PipeliningLimits = defaults,
): RequestListener {
  const connections = new WeakMap<Socket, Connection>()
  const crowded = new Set<Connection>()
  let waitingTotal = 0

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket)
    if (known !== undefined) return known
    const connection: Connection = { socket, running: new Set(), waiting: [], goesOn: false }
    connections.set(socket, connection)
    // Node's parser has a connection read on behind every request, at once and a moment later.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause()
    })
    socket.once('close', () => {
      forgetWaiting(connection)
      setImmediate(closeForgotten, connection.running)
    })
    return connection
  }

  function forgetWaiting(connection: Connection): void {
    waitingTotal -= connection.waiting.length
    connection.waiting = []
    crowded.delete(connection)
  }

  function close(connection: Connection): void {
    forgetWaiting(connection)
    connection.socket.destroy()
  }

  function begin(connection: Connection, { incoming, outgoing }: Exchange): void {
    connection.running.add(outgoing)
    outgoing.once('close', () => {
      connection.running.delete(outgoing)
      if (connection.waiting.length === 0 || connection.goesOn) return
      connection.goesOn = true
      // Not at once: a thousand refusals in a row would keep everybody else waiting.
      setImmediate(goOn, connection)
    })
    listener(incoming, outgoing)
  }

  function goOn(connection: Connection): void {
    connection.goesOn = false
    const next = connection.waiting.splice(0, atOnceMax - connection.running.size)
    waitingTotal -= next.length
    for (const exchange of next) begin(connection, exchange)
    if (connection.waiting.length > 0) return
    crowded.delete(connection)
    connection.socket.resume()
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
    crowded.add(connection)
    socket.pause()
    if (connection.waiting.length > waitingHereMax) close(connection)
    else if (waitingTotal > waitingMax) close(mostCrowded(crowded, connection))
  }
}

// --- internal ---

/**
 * Clients that send ahead at all send a few requests. What is read at once is 64 kB, in which the smallest requests are two
 * to three thousand; each of them waits in about two kilobytes.
 */
const defaults: PipeliningLimits = { atOnceMax: 16, waitingHereMax: 2_048, waitingMax: 8_192 }

type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }

type Connection = {
  readonly socket: Socket
  readonly running: Set<ServerResponse>
  waiting: Exchange[]
  /** Whether it is to go on with what waits in a moment. */
  goesOn: boolean
}

/** Not the one whose request came last: it may be a neighbour's. */
function mostCrowded(crowded: Iterable<Connection>, among: Connection): Connection {
  let most = among
  for (const each of crowded) if (each.waiting.length > most.waiting.length) most = each
  return most
}

/** Node 22 says nothing to the answers behind the one that was under way. */
function closeForgotten(running: ReadonlySet<ServerResponse>): void {
  for (const outgoing of running) {
    outgoing.destroy()
    outgoing.emit('close')
  }
}
