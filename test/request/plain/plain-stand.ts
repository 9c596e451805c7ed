import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { events, json, type Script } from '../../support/fake-upstream.ts'
import type { FoldgateOptions } from '../../support/foldgate.ts'
import { reportStand, type ReportStand } from '../../activity/report/report-stand.ts'

export type Asked = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A Foldgate that looks into so many small requests a second (null: into all) and passes the others of a kind on. */
export const plainStand = (
  script: Script | readonly Script[],
  { detailed = 0, ...options }: Partial<FoldgateOptions> & { readonly detailed?: number | null } = {},
): Promise<ReportStand> =>
  reportStand(script, {
    profile: { window: { tokens: 100_000 } },
    ...options,
    settings: { small_requests: { detailed_per_s: detailed }, ...options.settings },
  })

/** Sends headers and body in one piece, as clients send small requests. */
export const ask = (
  { url }: { readonly url: string },
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Asked> =>
  new Promise((resolve, reject) => {
    const sending = request(`${url}${path}`, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer key-of-a-test',
        'content-length': String(Buffer.byteLength(body)),
        ...headers,
      },
    })
    sending.on('error', reject)
    sending.on('response', (incoming) => {
      const pieces: Buffer[] = []
      incoming.on('data', (piece: Buffer) => pieces.push(piece))
      incoming.on('error', reject)
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: Buffer.concat(pieces),
        }),
      )
    })
    sending.end(body)
  })

/** Whether nobody looked into a request: it has no id then. */
export const isPassed = ({ headers }: Asked): boolean => headers['x-foldgate-conversation'] === undefined

/**
 * Asks for the same kind of answer until one is passed on. Resolves with how many were looked into before: what is on record
 * of a place is looked up beside the first.
 */
export async function warmUp(asking: (turn: number) => Promise<Asked>): Promise<number> {
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    if (isPassed(await asking(turn))) return turn
  }
  throw new Error('none was passed on')
}

const TURNS_MAX = 10

const chatUsage = {
  prompt_tokens: 31,
  completion_tokens: 2,
  total_tokens: 33,
  prompt_tokens_details: { cached_tokens: 7 },
}

const chatMessage = { role: 'assistant', content: 'Fine.' }

function message(outputTokens: number, more: object) {
  const cached = { cache_read_input_tokens: 7, cache_creation_input_tokens: 0 }
  const usage = { input_tokens: 24, ...cached, output_tokens: outputTokens }
  return { id: 'msg_1', type: 'message', role: 'assistant', model: 'test-model', usage, ...more }
}

/** A small request of each API, and what its upstream answers. */
export const apis: readonly [Api, Api, Api] = [
  {
    name: 'chat_completions',
    path: '/chat/completions',
    body: (text, more) =>
      `{ "model":"test-model","messages":[{"role":"user","content":${JSON.stringify(text)}}]${members(more)} }`,
    plain: json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'test-model',
      choices: [{ index: 0, message: chatMessage, finish_reason: 'stop' }],
      usage: chatUsage,
    }),
    streamed: [
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: { content: 'Fi' }, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: { content: 'ne.' }, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      chunk({ choices: [], usage: chatUsage }),
      'data: [DONE]\n\n',
    ],
  },
  {
    name: 'messages',
    path: '/messages',
    body: (text, more) =>
      `{ "model":"test-model","max_tokens":100,"messages":[{"role":"user","content":${JSON.stringify(text)}}]${members(more)} }`,
    plain: json(message(2, { content: [{ type: 'text', text: 'Fine.' }], stop_reason: 'end_turn' })),
    streamed: [
      event('message_start', { message: message(1, { content: [], stop_reason: null }) }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Fine.' } }),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
      event('message_stop', {}),
    ],
  },
  {
    name: 'responses',
    path: '/responses',
    body: (text, more) =>
      `{ "model":"test-model","input":${JSON.stringify(text)},"store":false${members(more)} }`,
    plain: json(response('completed')),
    streamed: [
      event('response.created', { response: { ...response('in_progress'), output: [], usage: null } }),
      event('response.output_text.delta', { output_index: 0, content_index: 0, delta: 'Fine.' }),
      event('response.completed', { response: response('completed') }),
    ],
  },
]

export type Api = {
  readonly name: string
  readonly path: string
  readonly body: (text: string, more?: object) => string
  /** Both state 31 tokens of prompt, of which 7 were cached. */
  readonly plain: Script
  readonly streamed: readonly string[]
}

export const answerOf =
  ({ plain, streamed }: Api): Script =>
  (received, ...connection) =>
    (received.body.includes('"stream":true') ? events(streamed) : plain)(received, ...connection)

function members(more: object = {}): string {
  const text = JSON.stringify(more).slice(1, -1)
  return text === '' ? '' : `,${text}`
}

function chunk(value: object): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'test-model', ...value })}\n\n`
}

function event(type: string, value: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`
}

function response(status: string) {
  const content = [{ type: 'output_text', text: 'Fine.', annotations: [] }]
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status,
    model: 'test-model',
    output: [{ id: 'msg_1', type: 'message', role: 'assistant', status, content }],
    usage: {
      input_tokens: 31,
      input_tokens_details: { cached_tokens: 7 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 33,
    },
  }
}
