import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { closeAll, listen } from '../free-port.ts'

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
async function serveLocally(
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
  return { url: `http://127.0.0.1:${await listen(server)}/v1`, close: () => closeAll(server) }
}

/** What a judge says of a request: its body as it was read, and why it is refused. */
type Judged = { readonly body: object; readonly rejection: object | null }

/** A request as an imitated server keeps it, with what its judge said. */
export type Recorded<Verdict extends Judged> = Omit<Verdict, 'body' | 'rejection'> & {
  readonly method: string
  /** With its query string. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly status: number
  readonly rejected: Verdict['rejection']
}

/** A request that obeys the rules and fits the window. */
export type Accepted<Verdict extends Judged> = Omit<Verdict, 'rejection'> & {
  readonly headers: IncomingHttpHeaders
}

/** What all imitated servers may be told. */
export type ReplyOptions<Verdict extends Judged, Script> = {
  /** Called for every request that is accepted, in the order of their arrival. */
  readonly reply: (request: Accepted<Verdict>) => Script | Promise<Script>
  /** Whether `requests` is kept. Default true; a long replay turns it off or calls `forget`. */
  readonly record?: boolean
  /** Whether replies state what they cost. Default true; some servers never do. */
  readonly statesUsage?: boolean
}

/** Serves requests and keeps them, each by `keep`; `unread` is what is known of one that was not judged. */
export async function serveRecorded<Verdict extends Judged>(
  { record = true, unread }: { readonly record?: boolean | undefined; readonly unread: Verdict },
  serve: (
    request: ArrivedRequest,
    response: ServerResponse,
    keep: (status: number, verdict?: Verdict) => void,
  ) => Promise<void>,
) {
  const requests: Recorded<Verdict>[] = []
  const server = await serveLocally((request, response) =>
    serve(request, response, (status, verdict = unread) => {
      if (!record) return
      const { method, path, headers, body } = request
      const { body: _, rejection: rejected, ...said } = verdict
      requests.push({ ...said, method, path, headers, body: body ?? Buffer.alloc(0), status, rejected })
    }),
  )
  return { ...server, requests, forget: () => void requests.splice(0) }
}

/** Answers with an error as OpenAI words it. */
export function refuse(
  response: ServerResponse,
  status: number,
  {
    message,
    param,
    code,
  }: { readonly message: string; readonly param: string | null; readonly code: string | null },
): void {
  sendJson(
    response,
    status,
    JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } }),
  )
}

export function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** Streams events, until the client goes away. */
export function sendEvents(
  response: ServerResponse,
  events: Iterable<string>,
  contentType = 'text/event-stream; charset=utf-8',
): void {
  response.writeHead(200, {
    'content-type': contentType,
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
