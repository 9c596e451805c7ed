import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listen } from '../../support/free-port.ts'

export type Exchange = {
  readonly body: string
  /** Null where the connection broke before an answer began. */
  readonly status: number | null
  readonly answer: string
}

export type Tap = Awaited<ReturnType<typeof openTap>>

/**
 * Passes on bytes and ends of connections as they come, and knows nothing of HTTP while it does: some servers end a
 * connection that they said would be kept, and what becomes of the next request depends on when.
 */
export async function openTap(server: string) {
  const { hostname, port } = new URL(server)
  const sockets = new Set<Socket>()
  let passing: Passing[] = []
  const tap = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
    let now: Passing | null = null
    client.on('data', (piece) => {
      // Nobody sends a request before the one before it was answered.
      if (now === null || now.answered.length > 0) {
        now = { sent: [], answered: [] }
        passing.push(now)
      }
      now.sent.push(piece)
    })
    upstream.on('data', (piece) => now?.answered.push(piece))
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.once('error', () => to.destroy())
      from.once('close', () => sockets.delete(from))
    }
  })
  return {
    origin: `http://127.0.0.1:${await listen(tap)}`,
    /** The generation requests since the last time, in the order in which they came. */
    take: (): readonly Exchange[] => {
      const taken = passing
      passing = []
      return taken.flatMap(exchangeOf)
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      tap.close()
      await once(tap, 'close')
    },
  }
}

type Passing = { readonly sent: Buffer[]; readonly answered: Buffer[] }

function exchangeOf({ sent, answered }: Passing): readonly Exchange[] {
  const request = messageOf(sent)
  if (!/^POST \S*\/(?:chat\/completions|responses|messages) /.test(request.head)) return []
  const answer = messageOf(answered)
  const status = /^HTTP\/1\.1 (\d{3})/.exec(answer.head)?.[1]
  return [{ body: request.body, status: status === undefined ? null : Number(status), answer: answer.body }]
}

function messageOf(pieces: readonly Buffer[]): { readonly head: string; readonly body: string } {
  const bytes = Buffer.concat(pieces)
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return { head: '', body: '' }
  const head = bytes.toString('latin1', 0, headEnd)
  const rest = bytes.subarray(headEnd + 4)
  const isChunked = /^transfer-encoding: *chunked/im.test(head)
  return { head, body: (isChunked ? withoutChunks(rest) : rest).toString('utf8') }
}

function withoutChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = []
  let at = 0
  while (at < bytes.length) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = lineEnd === -1 ? 0 : Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (!(size > 0)) break
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return Buffer.concat(chunks)
}
