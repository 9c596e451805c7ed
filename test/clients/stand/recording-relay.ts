import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { pipeline } from 'node:stream/promises'

/** What came for a server, and goes on to it. */
export type RecordedRequest = {
  readonly method: string
  readonly url: string
  readonly authorization: string | null
  readonly apiKey: string | null
}

/** Stands before a server and writes down what is asked of it. */
export async function startRecordingRelay(target: string) {
  const { hostname, port } = new URL(target)
  const requests: RecordedRequest[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const apiKey = headers['x-api-key']
    requests.push({
      method,
      url,
      authorization: headers.authorization ?? null,
      apiKey: typeof apiKey === 'string' ? apiKey : null,
    })
    const asked = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      // Whoever leaves in the middle breaks it off.
      void pipeline(answer, outgoing).catch(() => outgoing.destroy())
    })
    asked.on('error', () => outgoing.destroy())
    incoming.pipe(asked)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const own = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    origin: `http://127.0.0.1:${own}`,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
