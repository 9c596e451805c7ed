import * as fc from 'fast-check'
import { setTimeout as pause } from 'node:timers/promises'
import { openRaw } from '../../../support/raw-client.ts'
import { openStage } from '../stage.ts'
import { fuzzTarget } from '../target.ts'
import { connectRaw, requestOf } from '../wire/raw-exchange.ts'

/**
 * Connections that want more than their part: requests in bursts, whose answers may never be read, and heads and bodies
 * by the byte. Others are answered meanwhile; each request is answered, or its connection closed.
 */
export const rushes = fuzzTarget('rushes', 3, ['burst', 'slow'], async () => {
  const stage = await openStage({
    settings: {
      limits: { headers_s: 1, idle_s: 1, body_mb: 4, bytes_in_flight_mb: 12, concurrent: 64 },
    },
    profiles: {},
  })
  return {
    arbitrary: rush,
    check: async (each) => {
      await stage.begin()
      const make = each.kind === 'burst' ? burst : slow
      const going = Promise.all(Array.from({ length: each.connections }, () => make(stage.port(), each)))
      // What comes of it is seen below; until then others are served.
      going.catch(() => {})
      await stage.afterwards()
      const ends = await going
      await stage.afterwards()
      return `${each.kind}, ${[...new Set(ends)].toSorted().join(' and ')}`
    },
    close: stage.close,
  }
})

type Rush = {
  readonly kind: 'burst' | 'slow head' | 'slow body'
  readonly connections: number
  /** What a burst consists of, again and again. */
  readonly requests: readonly RequestKind[]
  readonly count: number
  readonly isRead: boolean
  /** What a slow request declares as its length, in bytes. */
  readonly declaredBytes: number
  /** How much of it comes, byte by byte. */
  readonly givenBytes: number
}

/** Of all that rush: places are shared by credential, and the next client has none. */
const CREDENTIAL = 'Authorization: Bearer sk-rush'

type RequestKind = keyof typeof requests

const requests = {
  chat: chat('{"model":"m","messages":[{"role":"user","content":"a"}]}'),
  'long chat': chat(`{"model":"m","messages":[{"role":"user","content":"${'word '.repeat(4_000)}"}]}`),
  'no JSON': chat('['),
  health: requestOf('/healthz', '', [CREDENTIAL], 'GET'),
  'no path': requestOf('/nowhere', '', [CREDENTIAL]),
} as const

const rush: fc.Arbitrary<Rush> = fc.record({
  kind: fc.constantFrom('burst' as const, 'slow head' as const, 'slow body' as const),
  connections: fc.integer({ min: 1, max: 24 }),
  requests: fc.array(
    fc.constantFrom(
      'chat' as const,
      'long chat' as const,
      'no JSON' as const,
      'health' as const,
      'no path' as const,
    ),
    { minLength: 1, maxLength: 4 },
  ),
  count: fc.integer({ min: 1, max: 200 }),
  isRead: fc.boolean(),
  declaredBytes: fc.constantFrom(10, 1_000, 1024 * 1024, 4 * 1024 * 1024),
  givenBytes: fc.integer({ min: 0, max: 40 }),
})

/** Long enough for a busy machine; what has not ended by then never does. In milliseconds. */
const PATIENCE_MS = 30_000

/** How long an answer is left unread, in milliseconds. */
const UNREAD_MS = 300

/** Between two bytes, in milliseconds. */
const BYTE_MS = 10

function chat(body: string): Buffer {
  return requestOf('/v1/chat/completions', body, [CREDENTIAL])
}

async function burst(port: number, { requests: kinds, count, isRead }: Rush): Promise<string> {
  const chosen = Array.from({ length: count }, (_, index) => kinds[index % kinds.length] ?? 'chat')
  const bytes = Buffer.concat(chosen.map((kind) => requests[kind]))
  if (!isRead) {
    const socket = await openRaw(port, bytes)
    await pause(UNREAD_MS)
    socket.destroy()
    return 'unread'
  }
  const connection = await connectRaw(port)
  const methods = chosen.map((kind) => (kind === 'health' ? 'GET' : 'POST'))
  try {
    connection.write(bytes)
    for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs; await pause(100)) {
      if (connection.answers(methods).length === count) return 'answered'
      if (connection.isClosed()) return 'closed'
    }
    throw new Error(`${connection.answers(methods).length} of ${count} requests were answered`)
  } finally {
    connection.destroy()
  }
}

async function slow(port: number, { kind, declaredBytes, givenBytes }: Rush): Promise<string> {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n${CREDENTIAL}\r\nContent-Length: ${declaredBytes}\r\n\r\n`
  const slowly =
    kind === 'slow head' ? head.slice(0, givenBytes) : '['.repeat(Math.min(givenBytes, declaredBytes))
  const connection = await connectRaw(port)
  try {
    if (kind === 'slow body') connection.write(Buffer.from(head))
    for (const byte of slowly) {
      if (connection.isClosed()) break
      connection.write(Buffer.from(byte))
      await pause(BYTE_MS)
    }
    const [answer] = await connection.wait(['POST'])
    return answer === undefined ? 'closed' : String(answer.status)
  } finally {
    connection.destroy()
  }
}
