import { connect, type Socket } from 'node:net'
import { createHttpReader, type HttpMessage } from './http-reader.ts'

/** One keep-alive connection that asks one thing after another. */
export type Connection = {
  /** Resolves when the answer has arrived whole; rejects where the connection ends before. */
  readonly ask: (request: Buffer, onBody?: (piece: Buffer) => void) => Promise<Asked>
  readonly close: () => void
}

export type Asked = {
  readonly status: number
  /** Until the answer's headers were there, in milliseconds. */
  readonly headMs: number
  /** Until all of it was there, in milliseconds. */
  readonly totalMs: number
  readonly head: string
  readonly first: Buffer
}

export function openConnection(origin: string): Promise<Connection> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve, reject) => {
    let settle: ((message: HttpMessage) => void) | null = null
    let fail: (error: Error) => void = reject
    let hear: ((piece: Buffer) => void) | null = null
    let headAtMs = 0
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true }, () =>
      resolve({
        ask: (request, onBody) =>
          new Promise((answered, failed) => {
            const askedAtMs = performance.now()
            fail = failed
            hear = onBody ?? null
            settle = ({ head, first }) =>
              answered({
                status: Number(head.slice(9, 12)),
                headMs: headAtMs - askedAtMs,
                totalMs: performance.now() - askedAtMs,
                head,
                first,
              })
            socket.write(request)
          }),
        close: () => socket.destroy(),
      }),
    )
    socket.on(
      'data',
      createHttpReader({
        onHead: () => {
          headAtMs = performance.now()
        },
        onBody: (piece) => hear?.(piece),
        onEnd: (message) => settle?.(message),
      }),
    )
    socket.on('error', (error) => fail(error))
    socket.on('close', () => fail(new Error('the connection was closed before the answer was whole')))
  })
}

/** A POST as the bytes that go over the wire. */
export function postOf(path: string, body: Buffer, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'authorization: Bearer sk-bench',
    'content-type: application/json',
    'accept: application/json',
    'user-agent: OpenAI/JS 6.0.0',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
}

export type LoadResult = {
  readonly requestsPerSecond: number
  /** Of each answered request, in milliseconds, ascending. */
  readonly latenciesMs: readonly number[]
  readonly count: number
}

/** Keeps `connections` busy for a while: each asks again as soon as it was answered. Throws at a status that is not 200. */
export async function runLoad(options: {
  origin: string
  /** The same each time, or what is asked next over the connection of that number. */
  request: Buffer | ((connection: number) => Buffer)
  connections: number
  /** How long, in milliseconds. */
  durationMs: number
}): Promise<LoadResult> {
  const { origin, request, durationMs } = options
  const connections = await Promise.all(
    Array.from({ length: options.connections }, () => openConnection(origin)),
  )
  const latenciesMs: number[] = []
  const startedMs = performance.now()
  const endMs = startedMs + durationMs
  await Promise.all(
    connections.map(async ({ ask, close }, index) => {
      while (performance.now() < endMs) {
        const next = typeof request === 'function' ? request(index) : request
        const { status, totalMs, first } = await ask(next)
        if (status !== 200) throw new Error(`${origin} answered ${status}: ${first.toString('utf8')}`)
        latenciesMs.push(totalMs)
      }
      close()
    }),
  )
  const seconds = (performance.now() - startedMs) / 1000
  return {
    requestsPerSecond: latenciesMs.length / seconds,
    latenciesMs: latenciesMs.toSorted((one, other) => one - other),
    count: latenciesMs.length,
  }
}
