import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openRaw } from '../../../support/raw-client.ts'
import { readAnswer, valuesOf, type WireMessage } from './strict-http.ts'
import { ownErrorCode } from '../../../support/post-chat.ts'

/** An answer as the client got it. */
export type Answer = WireMessage & {
  readonly status: number
  /** The value of a header, by its lower-case name; null where it is not there. */
  readonly header: (lowerName: string) => string | null
  /** The code of an error of Foldgate's own; null where it is no such error. */
  readonly code: string | null
}

export type RawConnection = {
  readonly write: (bytes: Buffer) => void
  /**
   * The answers that have come by now, to requests of these methods. Throws where the bytes are none, or where more came
   * than that.
   */
  readonly answers: (methods: readonly string[]) => readonly Answer[]
  /** Waits until so many answers are there or the other side has closed; throws where neither comes. */
  readonly wait: (methods: readonly string[]) => Promise<readonly Answer[]>
  readonly isClosed: () => boolean
  readonly destroy: () => void
}

/** A connection to a port of this machine that writes what it is given and reads with `strict-http.ts`. */
export async function connectRaw(port: number): Promise<RawConnection> {
  const socket: Socket = await openRaw(port)
  const pieces: Buffer[] = []
  let closed = false
  let wake: (() => void) | null = null
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece)
    wake?.()
  })
  socket.on('close', () => {
    closed = true
    wake?.()
  })

  function answers(methods: readonly string[]): readonly Answer[] {
    const bytes = Buffer.concat(pieces)
    if (methods.at(-1) !== 'HEAD') return readAnswers(bytes, methods, closed)
    try {
      return readAnswers(bytes, methods, closed)
    } catch {
      // Where HEAD is not seen for what it is, the refusal has a body.
      return readAnswers(bytes, [...methods.slice(0, -1), 'GET'], closed)
    }
  }
  return {
    write: (bytes) => void socket.write(bytes),
    answers,
    wait: async (methods) => {
      const deadlineMs = performance.now() + PATIENCE_MS
      for (;;) {
        const got = answers(methods)
        if (got.length >= methods.length || closed) return got
        const leftMs = deadlineMs - performance.now()
        if (leftMs <= 0) throw new Error(`no answer: ${got.length} of ${methods.length} came`)
        const woken = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([woken, sleep(leftMs, undefined, { ref: false })])
      }
    },
    isClosed: () => closed,
    destroy: () => socket.destroy(),
  }
}

/** Sends one request and waits for its one answer, on a connection that is kept for the next one. */
export type RawClient = {
  readonly ask: (bytes: Buffer, method?: string) => Promise<Answer>
  readonly close: () => void
}

export function openRawClient(port: () => number): RawClient {
  let kept: { readonly connection: RawConnection; readonly methods: string[] } | null = null
  return {
    ask: async (bytes, method = 'POST') => {
      const isUsed = kept === null || kept.connection.isClosed() || kept.methods.length >= REQUESTS_MAX
      if (isUsed) kept?.connection.destroy()
      const at: NonNullable<typeof kept> =
        isUsed || kept === null ? { connection: await connectRaw(port()), methods: [] } : kept
      kept = at
      at.methods.push(method)
      at.connection.write(bytes)
      const answers = await at.connection.wait(at.methods)
      const answer = answers[at.methods.length - 1]
      if (answer !== undefined) return answer
      kept = null
      throw new Error('the connection was closed without an answer')
    },
    close: () => kept?.connection.destroy(),
  }
}

/** A request with its length; further header lines as they are given. */
export function requestOf(
  target: string,
  body: string | Buffer = '',
  headers: readonly string[] = [],
  method = 'POST',
): Buffer {
  const length = method === 'GET' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: localhost', ...headers, ...length]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)])
}

/** Long enough for a busy machine; who waits longer hangs. */
const PATIENCE_MS = 30_000

/** All answers of a connection are read anew each time. */
const REQUESTS_MAX = 16

function readAnswers(bytes: Buffer, methods: readonly string[], isClosed: boolean): readonly Answer[] {
  const answers: Answer[] = []
  let at = 0
  while (at < bytes.length) {
    const method = methods[answers.length]
    if (method === undefined) throw new Error(`more answers than requests: ${shown(bytes, at)}`)
    const reading = readAnswer(bytes, at, method, isClosed)
    if (reading.kind === 'invalid') throw new Error(`no answer (${reading.why}): ${shown(bytes, at)}`)
    if (reading.kind === 'unfinished') break
    const { message } = reading
    at = message.end
    const status = Number(message.startLine.split(' ')[1])
    if (status >= 200) answers.push(answerFrom(message, status))
  }
  return answers
}

const shown = (bytes: Buffer, at: number): string => JSON.stringify(bytes.toString('latin1', at, at + 400))

const answerFrom = (message: WireMessage, status: number): Answer => ({
  ...message,
  status,
  header: (lowerName) => valuesOf(message.headers, lowerName)[0] ?? null,
  code: ownErrorCode(message.body),
})
