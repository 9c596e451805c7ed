import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { z } from 'zod'
import { loadCounter } from '../../../src/tokens/encodings.ts'
import { startFoldgate } from '../../support/foldgate.ts'
import { closeAll, listen } from '../../support/free-port.ts'
import { expectCompacted, type How, readingFrom, ROUNDS, type Stand } from './agent-stand.ts'

/** What its clients ask for as the window. */
export const NUM_CTX = 4_096

/** What the user says at the very beginning, and the model says at the end if it was shown it. */
const FACT = 'Ines Halvorsen'
export const ASKED = `The report is for ${FACT}. Read all files.`
const KNOWN = `All files are read, for ${FACT}.`
const FORGOTTEN = 'All files are read, for I do not know whom.'

export type OllamaStand = Stand<Awaited<ReturnType<typeof startDropping>>>

/** A server that cuts as Ollama does, and a Foldgate before it or none. Its URL is what `OLLAMA_HOST` would say. */
export async function ollamaStand(how: How): Promise<OllamaStand> {
  const { count } = await loadCounter('o200k_base')
  const upstream = await startDropping(count)
  const foldgate = how === 'alone' ? null : await startFoldgate({ upstream: `${upstream.url}/v1` })
  return readingFrom(upstream, foldgate, foldgate?.url.replace(/\/v1$/, '') ?? upstream.url)
}

/** Straight at the server: every request was answered, and the last words were said by a model that was not told what it forgot. */
export function expectForgotten({ upstream: { requests } }: OllamaStand, said: unknown): void {
  expect(said).toBe(FORGOTTEN)
  expect(requests.map(({ rejected }) => rejected)).toEqual(Array(ROUNDS + 1).fill(null))
  expect(requests.every(({ body }) => body.includes(FACT))).toBe(true)
  expect(requests.at(-1)?.isCut).toBe(true)
}

/** Through Foldgate: nothing had to be cut or refused, and what was told at the beginning stood in every prompt that arrived. */
export function expectKnown(at: OllamaStand, said: unknown, form: 'plain' | 'streamed'): void {
  expect(said).toBe(KNOWN)
  expect(at.upstream.requests.map(({ isCut }) => isCut)).toEqual(Array(ROUNDS + 1).fill(false))
  expect(at.upstream.requests.every(({ body }) => body.includes(FACT))).toBe(true)
  expectCompacted(at, ROUNDS + 1, { path: '/api/chat', windowTokens: NUM_CTX, form })
}

/**
 * Drops the oldest messages of what is longer than the window, without a word, and keeps what systems said and the last one; with
 * `truncate: false` it refuses instead. Its model has a file read in each round, and then says what it was told at the beginning.
 */
async function startDropping(count: (text: string) => number) {
  const requests: Received[] = []
  const tokensOf = (shown: unknown): number => count(JSON.stringify(shown))
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => answer(incoming.url ?? '', body, outgoing))
  })

  function answer(path: string, body: string, outgoing: ServerResponse): void {
    const send = (status: number, said: object): void =>
      void outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
    const loaded = { name: 'm', model: 'm', context_length: NUM_CTX }
    if (path === '/api/ps') return send(200, { models: requests.length === 0 ? [] : [loaded] })
    if (path !== '/api/chat') return send(404, { error: 'not found' })
    const { messages, tools = [], stream, truncate, options } = asked.parse(JSON.parse(body))
    const isShown = (from: number) => (message: Message, at: number) =>
      at >= from || at === messages.length - 1 || message.role === 'system'
    let from = 0
    let shown = messages
    while (tokensOf([shown, tools]) > options.num_ctx && from < messages.length) {
      from += 1
      shown = messages.filter(isShown(from))
    }
    const promptTokens = Math.min(tokensOf([shown, tools]), options.num_ctx)
    const isRefused = from > 0 && truncate === false
    const rejected = isRefused ? { reason: 'window' } : null
    requests.push({ path, body, promptTokens, rejected, isCut: from > 0 })
    if (isRefused) return send(400, { error: 'the input length exceeds the context length' })
    const said = replyTo(requests.length, JSON.stringify(shown))
    const head = { model: 'm', created_at: '2026-11-01T00:00:00Z' }
    const end = { done: true, done_reason: 'stop', total_duration: 9, load_duration: 1 }
    const usage = { prompt_eval_count: promptTokens, eval_count: tokensOf(said) }
    if (stream === false) return send(200, { ...head, message: said, ...end, ...usage })
    const pieces = said.content.match(/\S+\s*/g)?.map((content) => ({ role: 'assistant', content })) ?? []
    const lines = [...pieces, ...(said.tool_calls === undefined ? [] : [said])]
    outgoing.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for (const message of lines) outgoing.write(`${JSON.stringify({ ...head, message, done: false })}\n`)
    const last = { ...head, message: { role: 'assistant', content: '' }, ...end, ...usage }
    return void outgoing.end(`${JSON.stringify(last)}\n`)
  }

  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}`, requests, close: () => closeAll(server) }
}

// --- internal ---

type Received = Stand['upstream']['requests'][number] & { readonly body: string; readonly isCut: boolean }

const asked = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string() })),
  tools: z.array(z.unknown()).optional(),
  stream: z.boolean().optional(),
  truncate: z.boolean().optional(),
  options: z.looseObject({ num_ctx: z.int() }),
})

type Message = z.output<typeof asked>['messages'][number]

function replyTo(round: number, prompt: string) {
  const role = 'assistant'
  if (round % (ROUNDS + 1) === 0)
    return { role, content: prompt.includes(FACT) ? KNOWN : FORGOTTEN, tool_calls: undefined }
  const call = { name: 'read_file', arguments: { path: `src/file-${round}.ts` } }
  return { role, content: '', tool_calls: [{ id: `call_${round}`, function: { index: 0, ...call } }] }
}
