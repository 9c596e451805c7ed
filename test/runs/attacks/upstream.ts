import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { freePort } from '../../support/free-port.ts'
import type { HostileAnswer } from './attack.ts'

/** A body as it reached the upstream. */
export type Received = {
  readonly bytes: number
  readonly digest: string
  /** Its first bytes, as text. */
  readonly head: string
}

export type AttackedUpstream = {
  readonly url: string
  /** What was received under a mark, the newest last. */
  readonly receivedOf: (mark: string) => readonly Received[]
  /** What is answered under a mark; null: something small. */
  readonly answerWith: (mark: string, answer: (() => HostileAnswer | null) | null) => void
  readonly close: () => Promise<void>
}

/** Requests of one client carry it, so that what was received is told apart. */
export const MARK_HEADER = 'x-attack-mark'

/** Swallows bodies of any size and answers with a small reply, a sentence where a summary is asked for. */
export async function openAttackedUpstream(): Promise<AttackedUpstream> {
  const received = new Map<string, Received[]>()
  const answers = new Map<string, () => HostileAnswer | null>()

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await swallow(incoming)
    const mark = String(incoming.headers[MARK_HEADER] ?? '')
    received.set(mark, [...(received.get(mark) ?? []), body])
    const isAsked = incoming.method === 'POST'
    const hostile = isAsked ? (answers.get(mark)?.() ?? null) : null
    outgoing.writeHead(isAsked ? 200 : 404, { 'content-type': hostile?.type ?? 'application/json' })
    if (hostile !== null) return pipeline(Readable.from(hostile.pieces), outgoing)
    outgoing.end(isAsked ? replyOf(incoming.url ?? '') : '{}')
  }

  // A connection that it closes by itself is no fault of whoever held it.
  const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, outgoing) => {
    // Whoever leaves before the end has had enough.
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const port = await freePort()
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${port}/v1`,
    receivedOf: (mark) => received.get(mark) ?? [],
    answerWith: (mark, answer) => {
      if (answer === null) answers.delete(mark)
      else answers.set(mark, answer)
    },
    close: async () => {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

export function digestOf(body: Buffer): string {
  return createHash('sha1').update(body).digest('hex')
}

// --- internal ---

const COMPLETION = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'The work goes on.' }, finish_reason: 'stop' },
  ],
})

const RESPONSE = JSON.stringify({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'The work goes on.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
})

const MESSAGE = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'The work goes on.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
})

function replyOf(path: string): string {
  if (path.includes('/messages')) return MESSAGE
  return path.includes('/responses') ? RESPONSE : COMPLETION
}

async function swallow(incoming: IncomingMessage): Promise<Received> {
  const hash = createHash('sha1')
  let bytes = 0
  let head = ''
  for await (const piece of incoming) {
    const buffer = Buffer.from(piece)
    if (bytes === 0) head = buffer.toString('latin1', 0, 200)
    hash.update(buffer)
    bytes += buffer.length
  }
  return { bytes, digest: hash.digest('hex'), head }
}
