import { connect, type Socket } from 'node:net'
import { request, type IncomingMessage } from 'node:http'

export type RawAnswer = {
  readonly statusLine: string
  /** Header lines as they came, without the status line. */
  readonly headers: readonly string[]
  /** The bytes behind the headers, chunk framing included. */
  readonly body: Buffer
}

/** Opens a connection and writes these bytes. Errors of the socket are not thrown. */
export async function openRaw(port: number, bytes: string | Buffer = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  // A reset is one of the things that these tests look at.
  socket.on('error', () => {})
  if (bytes.length > 0) socket.write(bytes)
  return socket
}

/** Sends bytes as they are and returns what came until the connection closed. */
export async function rawExchange(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const all = await readToEnd(await openRaw(port, bytes))
  return parseRaw(Buffer.from(all, 'latin1'))
}

/** Everything that comes until the connection is closed, as Latin-1. */
export function readToEnd(socket: Socket): Promise<string> {
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  return new Promise((resolve) => {
    socket.once('close', () => resolve(Buffer.concat(pieces).toString('latin1')))
  })
}

/** Takes an answer apart. */
export function parseRaw(all: Buffer): RawAnswer {
  const end = all.indexOf('\r\n\r\n')
  const head = all.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n')
  return { statusLine: head[0] ?? '', headers: head.slice(1), body: all.subarray(end + 4) }
}

/** Reads from a socket until the text shows up. */
export const readUntil = (socket: Socket, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let all = ''
    const take = (piece: Buffer) => {
      all += piece.toString('latin1')
      if (!all.includes(text)) return
      socket.off('data', take)
      resolve(all)
    }
    socket.on('data', take)
    socket.once('close', () => reject(new Error(`The connection closed after: ${all}`)))
  })

/** A message of a stream of server-sent events. */
type ServerSentEvent = { readonly id: string | null; readonly data: unknown }

export type EventClient = Awaited<ReturnType<typeof listenTo>>

/** Opens a stream of server-sent events and reads it as a browser does, data as JSON. */
export async function listenTo(url: string, headers: Readonly<Record<string, string>> = {}) {
  const outgoing = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false })
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    outgoing.end()
  })
  const events: ServerSentEvent[] = []
  let text = ''
  let unread = ''
  let hasEnded = false
  incoming.setEncoding('utf8')
  incoming.on('data', (piece: string) => {
    text += piece
    const blocks = (unread + piece).split('\n\n')
    unread = blocks.pop() ?? ''
    events.push(...blocks.flatMap(eventIn))
  })
  // That it was cut is told by `close`.
  incoming.on('error', () => {})
  incoming.once('close', () => void (hasEnded = true))
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    /** What has come so far. */
    events: events as readonly ServerSentEvent[],
    /** The same, as text. */
    text: () => text,
    hasEnded: () => hasEnded,
    leave: () => void outgoing.destroy(),
  }
}

function eventIn(block: string): ServerSentEvent[] {
  const field = (name: string): string | null => {
    const line = block.split('\n').find((each) => each.startsWith(`${name}: `))
    return line === undefined ? null : line.slice(name.length + 2)
  }
  const data = field('data')
  return data === null ? [] : [{ id: field('id'), data: JSON.parse(data) as unknown }]
}
