import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { freePort } from '../support/free-port.ts'

/** A body as it reached the upstream. */
export type Received = {
  readonly bytes: number
  readonly digest: string
  /** Its first bytes, as text. */
  readonly head: string
}

export type AttackedUpstream = {
  readonly url: string
  /** What was received under a mark, the newest last. */
  readonly receivedOf: (mark: string) => readonly Received[]
  readonly close: () => Promise<void>
}

/** Requests of one client carry it, so that what was received is told apart. */
export const MARK_HEADER = 'x-attack-mark'

/** Swallows bodies of any size and answers with a small completion, a sentence where a summary is asked for. */
export async function openAttackedUpstream(): Promise<AttackedUpstream> {
  const received = new Map<string, Received[]>()
  // A connection that it closes by itself is no fault of whoever held it.
  const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, outgoing) => {
    swallow(incoming).then(
      (body) => {
        const mark = String(incoming.headers[MARK_HEADER] ?? '')
        received.set(mark, [...(received.get(mark) ?? []), body])
        outgoing.writeHead(incoming.method === 'POST' ? 200 : 404, { 'content-type': 'application/json' })
        outgoing.end(incoming.method === 'POST' ? COMPLETION : '{}')
      },
      () => outgoing.destroy(),
    )
  })
  const port = await freePort()
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${port}/v1`,
    receivedOf: (mark) => received.get(mark) ?? [],
    close: async () => {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

export function digestOf(body: Buffer): string {
  return createHash('sha1').update(body).digest('hex')
}

// --- internal ---

const COMPLETION = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'The work goes on.' }, finish_reason: 'stop' },
  ],
})

async function swallow(incoming: IncomingMessage): Promise<Received> {
  const hash = createHash('sha1')
  let bytes = 0
  let head = ''
  for await (const piece of incoming) {
    const buffer = Buffer.from(piece)
    if (bytes === 0) head = buffer.toString('latin1', 0, 200)
    hash.update(buffer)
    bytes += buffer.length
  }
  return { bytes, digest: hash.digest('hex'), head }
}
