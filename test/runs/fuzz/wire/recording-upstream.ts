import { createServer, type Socket } from 'node:net'
import { questionUserAgent } from '../../../../src/models/discovery/ask-json.ts'
import { listen } from '../../../support/free-port.ts'
import { readRequest, valuesOf, type WireMessage } from './strict-http.ts'

/** A request as it reached the upstream. */
export type Received = WireMessage & { readonly method: string; readonly target: string }

/** The bytes of an answer, and whether the connection ends with them. */
export type RawAnswer = { readonly bytes: Buffer; readonly closes: boolean }

export type RecordingUpstream = {
  readonly port: number
  /** With the path `/base/v1`. */
  readonly url: string
  /** Without a path. */
  readonly origin: string
  /** What was received since they were last taken, Foldgate's own questions left out. */
  readonly take: () => readonly Received[]
  /** Bytes that were no request, since they were last taken: nothing that Foldgate sends may be that. */
  readonly takeNonsense: () => readonly string[]
  /** What is answered from now on. Default: a chat completion. */
  readonly answerWith: (answer: (request: Received) => RawAnswer) => void
  readonly connections: () => number
  readonly close: () => Promise<void>
}

/** A server that keeps what it receives byte for byte, and reads it more strictly than any real one. */
export async function openRecordingUpstream(): Promise<RecordingUpstream> {
  let received: Received[] = []
  let nonsense: string[] = []
  let connections = 0
  let answerTo: ((request: Received) => RawAnswer) | null = null
  const sockets = new Set<Socket>()

  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {
      // Whoever gives up an answer resets the connection.
    })
    let unread: Buffer = Buffer.alloc(0)
    socket.on('data', (piece: Buffer) => {
      unread = unread.length === 0 ? piece : Buffer.concat([unread, piece])
      for (;;) {
        const reading = readRequest(unread, 0)
        if (reading.kind === 'unfinished') return
        if (reading.kind === 'invalid') {
          nonsense.push(`${reading.why} in ${JSON.stringify(unread.toString('latin1').slice(0, 600))}`)
          socket.destroy()
          return
        }
        const { message } = reading
        const [method = '', target = ''] = message.startLine.split(' ')
        unread = unread.subarray(message.end)
        const request = { ...message, method, target }
        if (valuesOf(message.headers, 'user-agent').includes(questionUserAgent)) {
          socket.write(notFound)
          continue
        }
        received.push(request)
        const { bytes, closes } = answerTo?.(request) ?? completionAnswer
        if (closes) socket.end(bytes)
        else socket.write(bytes)
      }
    })
    socket.on('end', () => {
      if (unread.length > 0 && readRequest(unread, 0).kind === 'invalid') nonsense.push('an invalid end')
    })
  })
  const port = await listen(server)
  return {
    port,
    url: `http://127.0.0.1:${port}/base/v1`,
    origin: `http://127.0.0.1:${port}`,
    take: () => {
      const taken = received
      received = []
      return taken
    },
    takeNonsense: () => {
      const taken = nonsense
      nonsense = []
      return taken
    },
    answerWith: (answer) => {
      answerTo = answer
    },
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
    },
  }
}

/** What the upstream says when all is well. */
export const REPLY =
  '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"The work goes on."},"finish_reason":"stop"}]}'

/** The same of the Responses API, plain and as events. */
export const RESPONSE =
  '{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"The work goes on.","annotations":[]}]}]}'

export const RESPONSE_EVENTS = `event: response.completed\ndata: {"type":"response.completed","sequence_number":0,"response":${RESPONSE}}\n\n`

/** The same of the Messages API. */
export const MESSAGE =
  '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"The work goes on."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}'

export const MESSAGE_EVENTS = `event: message_start\ndata: {"type":"message_start","message":${MESSAGE}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"The work goes on."}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`

export const OLLAMA =
  '{"model":"m","created_at":"2026-11-29T12:00:00Z","message":{"role":"assistant","content":"The work goes on."},"done":true,"done_reason":"stop"}'

export const OLLAMA_LINES = `{"model":"m","created_at":"2026-11-29T12:00:00Z","message":{"role":"assistant","content":"The work goes on."},"done":false}\n{"model":"m","created_at":"2026-11-29T12:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n`

/** An answer with this status line, these header lines and this body, whose length is stated. */
export function answerOf(status: string, headers: readonly string[], body: string | Buffer): RawAnswer {
  const lines = [`HTTP/1.1 ${status}`, ...headers, `content-length: ${Buffer.byteLength(body)}`]
  return {
    bytes: Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]),
    closes: false,
  }
}

const completionAnswer = answerOf('200 OK', ['content-type: application/json'], REPLY)

const notFound = answerOf('404 Not Found', ['content-type: application/json'], '{}').bytes
