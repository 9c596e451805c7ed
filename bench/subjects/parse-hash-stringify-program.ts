/**
 * What a proxy costs that looks at a conversation in the way that lies nearest: parse the body, hash every message to
 * recognise it, and write the whole anew. It changes nothing.
 */
import { hash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { Pool } from 'undici'

/** More than any conversation of the bench has. */
const KNOWN_MAX = 100_000

const [upstream = '', port = ''] = process.argv.slice(2)
const pool = new Pool(upstream, { connections: null, pipelining: 1 })
/** The messages that have come before. */
const known = new Set<string>()

createServer((incoming, outgoing) => {
  void relay()
  async function relay(): Promise<void> {
    const { host: _, connection: __, 'content-length': length, ...headers } = incoming.headers
    const answer = await pool.request({
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers,
      body: length === undefined ? null : rewritten(await whole(incoming)),
    })
    outgoing.writeHead(answer.statusCode, answer.headers)
    answer.body.pipe(outgoing)
  }
}).listen(Number(port), '127.0.0.1')

function rewritten(body: Buffer): string {
  const parsed: unknown = JSON.parse(body.toString('utf8'))
  if (!isConversation(parsed)) throw new Error('a body without messages')
  if (known.size > KNOWN_MAX) known.clear()
  for (const message of parsed.messages) known.add(hash('sha256', JSON.stringify(message)))
  return JSON.stringify(parsed)
}

function isConversation(value: unknown): value is { messages: readonly unknown[] } {
  return typeof value === 'object' && value !== null && 'messages' in value && Array.isArray(value.messages)
}

function whole(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.once('end', () => resolve(Buffer.concat(pieces)))
    incoming.once('error', reject)
  })
}
