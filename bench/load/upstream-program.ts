/**
 * The upstream of the bench: answers at once, in as little time as it can. What it answers stands in the model's name,
 * the one thing that every gateway passes on: where it ends with `stream-CHUNKS-GAP_MS-SILENCE_MS`, such a stream.
 */
import { createServer, type Socket } from 'node:net'
import { createHttpReader } from './http-reader.ts'

const plain = answerOf({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'plain',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
})
const response = answerOf({
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'plain',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
})
const message = answerOf({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'plain',
  content: [{ type: 'text', text: 'Done.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 2 },
})
const streamHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'

createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  socket.on(
    'data',
    createHttpReader({
      onEnd: ({ first }) => {
        const text = first.toString('latin1')
        const wanted = /"model": ?"[^"]*stream-(\d+)-(\d+)-(\d+)"/.exec(text)
        if (wanted === null) socket.write(plainFor(text.slice(0, text.indexOf('\r'))))
        else void stream(socket, Number(wanted[1]), Number(wanted[2]), Number(wanted[3]))
      },
    }),
  )
}).listen(Number(process.argv[2]), '127.0.0.1')

function answerOf(body: object): Buffer {
  const text = JSON.stringify(body)
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
}

/** In the format of the path that the request line names. */
function plainFor(requestLine: string): Buffer {
  if (requestLine.includes('/responses')) return response
  return requestLine.includes('/messages') ? message : plain
}

/** Each event says when it was written, so that whoever reads it knows how long it took. */
async function stream(socket: Socket, chunks: number, gapMs: number, silenceMs: number): Promise<void> {
  await pause(silenceMs)
  socket.write(streamHead)
  for (let index = 0; index < chunks && !socket.destroyed; index += 1) {
    if (index > 0) await pause(gapMs)
    const sentAtMs = performance.timeOrigin + performance.now()
    writeChunk(
      socket,
      `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"stream","choices":[{"index":0,"delta":{"content":"@${sentAtMs.toFixed(3)}@"},"finish_reason":null}]}\n\n`,
    )
  }
  writeChunk(
    socket,
    'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"stream","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  )
  writeChunk(socket, 'data: [DONE]\n\n')
  socket.write('0\r\n\r\n')
}

function writeChunk(socket: Socket, text: string): void {
  socket.write(`${text.length.toString(16)}\r\n${text}\r\n`)
}

function pause(milliseconds: number): Promise<void> | undefined {
  return milliseconds === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, milliseconds))
}
