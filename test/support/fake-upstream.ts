import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { questionUserAgent } from '../../src/models/discovery/ask-json.ts'
import { closeAll, freePort, listen } from './free-port.ts'

/** A request as it reached the upstream: the exact bytes and headers. */
export type ReceivedRequest = {
  readonly method: string
  readonly url: string
  /** Name and value by turns, in order and spelling. */
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  /** The answer's connection was closed before the answer was complete. */
  left: boolean
  /** The request broke off before its body was complete. */
  brokenOff: boolean
}

/**
 * One answer, or another script that gives it, chosen by the request. `request.body` is whole unless the upstream was opened
 * with `readBody: false`.
 */
export type Script = (
  request: ReceivedRequest,
  outgoing: ServerResponse,
  incoming: IncomingMessage,
) => void | Script | Promise<void | Script>

export type FakeUpstream = Awaited<ReturnType<typeof fakeUpstream>>

/**
 * A real server that plays a script: one answer for all requests, or a list of which the last one repeats.
 */
export async function fakeUpstream(
  script: Script | readonly Script[],
  options: { readonly readBody?: boolean; readonly onQuestion?: Script } = {},
) {
  const scripts = typeof script === 'function' ? [script] : script
  const requests: ReceivedRequest[] = []
  const questions: ReceivedRequest[] = []
  let connections = 0

  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    const pieces: Buffer[] = []
    const request: ReceivedRequest = {
      method: incoming.method ?? '',
      url: incoming.url ?? '',
      rawHeaders: incoming.rawHeaders,
      headers: incoming.headers,
      get body() {
        return Buffer.concat(pieces)
      },
      left: false,
      brokenOff: false,
    }
    const isQuestion = incoming.headers['user-agent'] === questionUserAgent
    const play = isQuestion
      ? (options.onQuestion ?? json({ error: 'unknown path' }, 404))
      : scripts[Math.min(requests.length, scripts.length - 1)]
    ;(isQuestion ? questions : requests).push(request)
    incoming.on('error', () => {
      request.brokenOff = true
    })
    outgoing.on('error', () => {
      request.left = true
    })
    outgoing.on('close', () => {
      if (!outgoing.writableFinished) request.left = true
    })
    if (options.readBody === false) {
      void perform(play, request, outgoing, incoming)
      return
    }
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.on('end', () => void perform(play, request, outgoing, incoming))
  })
  server.on('connection', (socket) => {
    connections += 1
    socket.on('close', () => {
      connections -= 1
    })
  })
  // Some tests close it and go on asking: its port must stay nobody's.
  const port = await freePort()
  await listen(server, port)
  const origin = `http://127.0.0.1:${port}`

  const close = () => closeAll(server)
  return {
    /** With the path `/v1`. */
    url: `${origin}/v1`,
    origin,
    port,
    requests,
    /** What Foldgate asked of its own accord: windows. They play no part in the script. */
    questions,
    /** How many connections are open. */
    connections: () => connections,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Answers with JSON. */
export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Script =>
  function answerJson(_request, outgoing) {
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers })
    outgoing.end(JSON.stringify(value))
  }

/** Answers with these bytes, with their length stated. */
export const bytes = (body: Buffer | string, headers: Record<string, string> = {}, status = 200): Script =>
  function answerBytes(_request, outgoing) {
    outgoing.writeHead(status, { 'content-length': String(Buffer.byteLength(body)), ...headers })
    outgoing.end(body)
  }

/** A chat completion with this text. */
export const completion = (
  text: string,
  usage: Record<string, unknown> = {},
  model = 'fake-model',
  more: Record<string, unknown> = {},
): Script =>
  json({
    ...more,
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, ...usage },
  })

/** OpenAI's answer to a prompt that exceeds the window. */
export const overflow = (windowTokens: number, promptTokens = windowTokens + 1_000): Script =>
  json(
    {
      error: {
        message: `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`,
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    400,
  )

/** Has a window of so many tokens of four bytes; `good` is told how many a prompt has that fits. */
export const windowedAt =
  (
    windowTokens: number,
    good: (promptTokens: number) => Script = () => completion('fine'),
    refusal?: Script,
  ): Script =>
  ({ body }) => {
    const tokens = Math.round(body.length / 4)
    return tokens > windowTokens ? (refusal ?? overflow(windowTokens, tokens)) : good(tokens)
  }

/** How a stream ends: properly, never, or by a connection that is cut. */
export type StreamEnd = 'clean' | 'never' | 'cut'

/** Writes these pieces one by one as server-sent events, exactly as they are. */
export const events = (pieces: readonly (string | Buffer)[], end: StreamEnd = 'clean'): Script =>
  async function answerEvents(_request, outgoing) {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    outgoing.flushHeaders()
    for (const piece of pieces) {
      if (outgoing.destroyed) return
      outgoing.write(piece)
      await nextTurn()
    }
    if (end === 'clean') outgoing.end()
    if (end === 'cut') outgoing.socket?.end(() => outgoing.socket?.destroy())
  }

/** A streamed chat completion, one delta for each word. */
export function stream(text: string, end: StreamEnd = 'clean'): Script {
  const words = text.split(/(?<= )/)
  return events(
    [
      chunk({ role: 'assistant', content: '' }, null),
      ...words.map((word) => chunk({ content: word }, null)),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ],
    end,
  )
}

/** Takes the request and never answers. */
export const silence: Script = () => {
  // Nothing is the answer.
}

/** Plays a script, and the one that it leaves the answer to. */
function perform(script: Script | undefined, ...exchange: Parameters<Script>): void | Promise<void> {
  const next = script?.(...exchange)
  if (next instanceof Promise)
    return next.then((later) => (later === undefined ? later : perform(later, ...exchange)))
  return next === undefined ? next : perform(next, ...exchange)
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

function chunk(delta: Record<string, unknown>, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  const value = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'fake-model',
    choices,
  }
  return `data: ${JSON.stringify(value)}\n\n`
}
