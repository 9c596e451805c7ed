import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import { closeAll, freePort, listen } from '../../support/free-port.ts'
import { lastMarkIn, replyTo, tenantsIn, VISIT_HEADER, type Reply } from './visits.ts'

export type SoakUpstream = {
  readonly url: string
  /** Whether the request of a visit came. */
  readonly hasSeen: (visit: string) => boolean
  /** Requests that held the mark of another tenant than the one whose key they carried. */
  readonly mixed: readonly string[]
  /** Summaries that were asked for. */
  readonly summaries: () => number
  /** Requests that are being answered. */
  readonly inFlight: () => number
  readonly close: () => Promise<void>
}

/** The model that summaries are asked of. */
export const SUMMARY_MODEL = 'summarizer'

/** A server that answers by the marks it finds, and looks whose they are. */
export async function startSoakUpstream(): Promise<SoakUpstream> {
  const seen = new Set<string>()
  const mixed: string[] = []
  let summaries = 0
  let inFlight = 0

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = (await buffer(incoming)).toString()
    const tenant = (incoming.headers.authorization ?? '').replace('Bearer key-of-', '')
    for (const other of tenantsIn(body)) {
      if (other !== tenant) mixed.push(`a request of ${tenant} held a mark of ${other}`)
    }
    if (body.includes(`"${SUMMARY_MODEL}"`)) {
      summaries += 1
      return answerPlain(outgoing, `The work so far is that of ${lastMarkIn(body)}.`)
    }
    const mark = lastMarkIn(body)
    seen.add(String(incoming.headers[VISIT_HEADER]))
    const reply = replyTo(mark)
    if (reply.kind === 'limited') return refuse(outgoing, 429, mark, { 'retry-after': '7' })
    if (reply.kind === 'failed') return refuse(outgoing, 500, mark)
    if (body.includes('"stream":true')) return answerStream(outgoing, reply)
    await pause(reply.pauseMs)
    return reply.kind === 'cut' ? cutPlain(outgoing, reply) : answerPlain(outgoing, reply.pieces.join(''))
  }

  const server = createServer({ keepAliveTimeout: 2_000 }, (incoming, outgoing) => {
    inFlight += 1
    outgoing.once('close', () => {
      inFlight -= 1
    })
    // A client that leaves takes its request with it.
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  const port = await freePort()
  await listen(server, port)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    hasSeen: (visit) => seen.has(visit),
    mixed,
    summaries: () => summaries,
    inFlight: () => inFlight,
    close: () => closeAll(server),
  }
}

const head = { id: 'chatcmpl-1', created: 1, model: 'm' }

function plainBody(text: string): string {
  const message = { role: 'assistant', content: text }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
  return JSON.stringify({ ...head, object: 'chat.completion', choices, usage })
}

function answerPlain(outgoing: ServerResponse, text: string): void {
  const body = plainBody(text)
  outgoing.writeHead(200, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  })
  outgoing.end(body)
}

/** States a length and breaks off before it is reached. */
function cutPlain(outgoing: ServerResponse, reply: Reply): void {
  const body = plainBody(reply.pieces.join(''))
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length + 1) })
  outgoing.write(body, () => outgoing.destroy())
}

async function answerStream(outgoing: ServerResponse, reply: Reply): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  const pieces = reply.kind === 'cut' ? reply.pieces.slice(0, reply.pieces.length >> 1) : reply.pieces
  for (const content of pieces) {
    const choices = [{ index: 0, delta: { content }, finish_reason: null }]
    const chunk = JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })
    if (!outgoing.write(`data: ${chunk}\n\n`)) await once(outgoing, 'drain')
    if (reply.pauseMs > 0) await pause(reply.pauseMs)
    if (outgoing.destroyed) return
  }
  if (reply.kind === 'cut') outgoing.destroy()
  else outgoing.end('data: [DONE]\n\n')
}

function refuse(outgoing: ServerResponse, status: number, mark: string, headers: object = {}): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers })
  outgoing.end(JSON.stringify({ error: { message: `${status} for ${mark}`, type: 'server', code: null } }))
}
