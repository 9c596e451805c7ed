/**
 * The least that a relay on this runtime can be: node:http and undici, both bodies as streams, or with `--buffered` the
 * request's body whole before it is sent. It looks at nothing and survives nothing.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { Pool } from 'undici'

const [upstream = '', port = '', mode = ''] = process.argv.slice(2)
const pool = new Pool(upstream, { connections: null, pipelining: 1 })

createServer((incoming, outgoing) => {
  void relay()
  async function relay(): Promise<void> {
    const {
      host: _,
      connection: __,
      'content-length': length,
      'transfer-encoding': ___,
      ...headers
    } = incoming.headers
    const hasBody = length !== undefined || incoming.headers['transfer-encoding'] !== undefined
    const body = !hasBody ? null : mode === '--buffered' ? await whole(incoming) : incoming
    const answer = await pool.request({
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers:
        mode === '--buffered' || length === undefined ? headers : { ...headers, 'content-length': length },
      body,
      responseHeaders: 'raw',
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    // Raw, so in truth a list of names and values, which `writeHead` takes as well.
    outgoing.writeHead(answer.statusCode, answer.headers)
    answer.body.pipe(outgoing)
  }
}).listen(Number(port), '127.0.0.1')

async function whole(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece)
  return Buffer.concat(pieces)
}
