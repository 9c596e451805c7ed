import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { isObject } from './wire-message.ts'

/** A request with all of its body. */
export type ArrivedRequest = {
  readonly method: string
  /** With its query string. */
  readonly path: string
  /** Without it. */
  readonly route: string
  readonly headers: IncomingHttpHeaders
  /** Null where it is larger than any that is served. */
  readonly body: Buffer | null
}

type LocalServer = {
  /** The base URL for a client, `/v1` included. */
  readonly url: string
  close(): Promise<void>
}

/** A server on a free port of 127.0.0.1. A request that `serve` fails at is answered with 500. */
export async function serveLocally(
  serve: (request: ArrivedRequest, response: ServerResponse) => Promise<void>,
): Promise<LocalServer> {
  const server = createServer((request, response) => {
    arrived(request)
      .then((read) => serve(read, response))
      .catch((error: unknown) => {
        // A script that throws is a mistake of the test: it shows as an answer that no one takes for a verdict.
        const message = `The reply script failed: ${String(error)}`
        if (response.headersSent) response.destroy()
        else refuse(response, 500, { message, param: null, code: null })
      })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = isObject(address) ? Number(address['port']) : 0
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Answers with an error as OpenAI words it; some gateways state its type beside it, too. */
export function refuse(
  response: ServerResponse,
  status: number,
  error: { readonly message: string; readonly param: string | null; readonly code: string | null },
  errorType?: string,
): void {
  const { message, param, code } = error
  const body = {
    error: { message, type: 'invalid_request_error', param, code },
    ...(errorType !== undefined && { error_type: errorType }),
  }
  sendJson(response, status, JSON.stringify(body))
}

export function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** Streams events, until the client goes away. */
export function sendEvents(response: ServerResponse, events: Iterable<string>): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  })
  for (const event of events) if (!response.destroyed) response.write(event)
  response.end()
}

// What Foldgate itself accepts by default: a larger body never reaches an upstream through it.
const BODY_BYTES_MAX = 64 * 1024 * 1024

async function arrived(request: IncomingMessage): Promise<ArrivedRequest> {
  const path = request.url ?? '/'
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk)
  }
  return {
    method: request.method ?? 'GET',
    path,
    route: path.split('?')[0] ?? '',
    headers: request.headers,
    body: bytes > BODY_BYTES_MAX ? null : Buffer.concat(chunks, bytes),
  }
}
