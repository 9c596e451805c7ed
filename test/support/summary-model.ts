import { hash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPromptCounter, REPLY_TOKENS } from './strict-upstream/prompt-tokens.ts'
import { callsOf, isObject, textOf, textsOf, type WireMessage } from './strict-upstream/wire-message.ts'
import { loadCounter } from '../../src/tokens/encodings.ts'
import { extractiveSummary } from './extractive-summary.ts'
import { closeAll, freePort, listen } from './free-port.ts'
import type { Upstreams } from './foldgate.ts'

/** How a call is answered: well, with a status in OpenAI's words, or in one of the ways in which models fail. */
export type SummaryQuality =
  | 'good'
  /** The connection is closed without an answer. One that is refused: a model that was closed. */
  | 'disconnect'
  | 401
  /** With a `retry-after`. */
  | 429
  | 500
  /** Never answered. */
  | 'hang'
  | 'empty'
  | 'tool-call'
  | 'only-reasoning'
  /** A good one that ends in the middle of a section, for want of output tokens. */
  | 'truncated'
  /** Longer than what it was asked to summarise. */
  | 'gibberish'
  /** Refused as too long, whatever its length. */
  | 'overflow'
  /** The instructions once more. */
  | 'echo'

export type SummaryModelOptions = {
  /** For every call, or by the call. Default `good`. */
  readonly quality?: SummaryQuality | ((call: SummaryCall, index: number) => Maybe<SummaryQuality>)
  /** How long an answer takes, failures included. Default 0. */
  readonly delayMs?: number | ((call: SummaryCall, index: number) => number)
  /** Parameters that are refused by name, as reasoning models do. */
  readonly rejects?: readonly string[]
  /** What `429` asks for. Default 30. */
  readonly retryAfterS?: number
}

/** One call as it came in, and what became of it. Times are those of `performance.now()`. */
export type SummaryCall = {
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
  /** What a user said in it, as one text. */
  readonly text: string
  readonly promptTokens: number
  readonly beganMs: number
  /** Null while it runs. */
  readonly endedMs: number | null
  /** Null while it runs, and where no answer was given. */
  readonly status: number | null
  /** What it was answered; null where it was no text. */
  readonly answer: string | null
  readonly completionTokens: number
  /** The caller went away before the answer. */
  readonly left: boolean
}

export type SummaryModel = Awaited<ReturnType<typeof startSummaryModel>>

/**
 * A server on a free port of 127.0.0.1 in the place of a cheap summary model: OpenAI's chat completions without
 * streaming. Good answers come from a program (`extractive-summary.ts`), which takes what the user says as text and
 * knows nothing of how Foldgate words it.
 */
export async function startSummaryModel(options: SummaryModelOptions = {}) {
  const { count } = await loadCounter('o200k_base')
  const counter = openPromptCounter(count)
  const calls: Running[] = []
  const written = new Set<string>()
  let arrived = 0
  let inFlight = 0

  function open(request: IncomingMessage, body: Record<string, unknown>): Running {
    const messages = messagesOf(body)
    const sizes = messages.map((message) => counter.message(hash('sha1', JSON.stringify(message)), message))
    const toolsTokens = counter.tools(hash('sha1', JSON.stringify(body['tools'] ?? '')), body['tools'])
    return {
      headers: request.headers,
      body,
      text: spokenText(messages),
      promptTokens: REPLY_TOKENS + toolsTokens + sizes.reduce((sum, size) => sum + size, 0),
      beganMs: performance.now(),
      endedMs: null,
      status: null,
      answer: null,
      completionTokens: 0,
      left: false,
    }
  }

  function summaryFor(call: SummaryCall): string {
    const limit = Number(call.body['max_completion_tokens'] ?? call.body['max_tokens'] ?? Infinity)
    const tokensMax = Math.min(limit, TEXT_TOKENS_MAX)
    const summary = extractiveSummary(call.text, { tokensMax, count, isCarried: (line) => written.has(line) })
    for (const line of summary.split('\n')) written.add(line)
    return summary
  }

  function answerFor(call: SummaryCall, quality: SummaryQuality): Answer {
    if (quality === 'overflow') return overflow(call.promptTokens - 1, call.promptTokens)
    const rejected = options.rejects?.find((name) => name in call.body)
    if (rejected !== undefined) return unsupported(rejected)
    switch (quality) {
      case 'good':
        return saying(summaryFor(call))
      case 'truncated': {
        const whole = summaryFor(call)
        return { ...saying(whole.slice(0, (whole.length * 2) / 3)), finishReason: 'length' }
      }
      case 'empty':
        return saying('')
      case 'tool-call':
        return { ...saying(null, { tool_calls: [aCall] }), finishReason: 'tool_calls' }
      case 'only-reasoning':
        return saying(null, { reasoning_content: REASONING })
      case 'gibberish':
        return saying(gibberish(call.promptTokens))
      case 'echo':
        return saying(instructionsOf(call))
      case 401:
        return refusal(401, 'Incorrect API key provided: sk-cheap.', 'invalid_api_key')
      case 429:
        return {
          ...refusal(429, 'Rate limit reached for cheap-1. Please try again later.', 'rate_limit_exceeded'),
          headers: { 'retry-after': String(options.retryAfterS ?? 30) },
        }
      case 500:
        return refusal(500, 'The server had an error while processing your request.', null)
      case 'hang':
      case 'disconnect':
        return { status: null }
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bodyText = await text(request)
    const isCall = request.method === 'POST' && request.url?.split('?')[0]?.endsWith('/chat/completions')
    if (isCall !== true)
      return send(response, refusal(404, 'Unknown request URL.', 'unknown_url'), { model: '', usage: [0, 0] })
    const read: unknown = JSON.parse(bodyText)
    const call = open(request, isObject(read) ? read : {})
    const index = arrived
    arrived += 1
    calls.push(call)
    inFlight += 1
    let isDisconnected = false
    response.once('close', () => {
      inFlight -= 1
      call.endedMs = performance.now()
      call.left = !response.writableFinished && !isDisconnected
    })
    const { quality = 'good', delayMs = 0 } = options
    const chosen = typeof quality === 'function' ? await quality(call, index) : quality
    // The work is done at once: what takes time is the waiting, in which the process is free.
    const answer = answerFor(call, chosen)
    const dueMs = call.beganMs + (typeof delayMs === 'function' ? delayMs(call, index) : delayMs)
    if (dueMs > performance.now()) await sleep(dueMs - performance.now())
    if (response.destroyed || chosen === 'hang') return
    if (chosen === 'disconnect') {
      isDisconnected = true
      response.destroy()
      return
    }
    call.status = answer.status
    call.answer = textOf(answer.message?.['content'])
    call.completionTokens = count(`${call.answer}${textOf(answer.message?.['reasoning_content'])}`)
    const usage = [call.promptTokens, call.completionTokens] as const
    send(response, answer, { model: textOf(call.body['model']), usage })
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  // Some tests close it and go on asking: its port must stay nobody's.
  const port = await freePort()
  await listen(server, port)

  const close = () => closeAll(server)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    /** The chat completions that it was asked for; questions about windows are none. */
    calls: calls as readonly SummaryCall[],
    promptTokens: () => calls.reduce((sum, call) => sum + call.promptTokens, 0),
    completionTokens: () => calls.reduce((sum, call) => sum + call.completionTokens, 0),
    inFlight: () => inFlight,
    /** Resolves once nothing has run for a while: whoever would ask again at once has had the time. */
    quiet: async () => {
      // Rounds and not time: whoever blocks this process gets its turns all the same.
      for (let round = 0, before = arrived; round < QUIET_ROUNDS; round += 1) {
        await sleep(QUIET_ROUND_MS)
        if (inFlight === 0 && arrived === before) continue
        before = arrived
        round = -1
      }
    },
    /** Forgets the calls so far, those that still run excepted. */
    forget: () => {
      const running = calls.filter(({ endedMs }) => endedMs === null)
      calls.splice(0, calls.length, ...running)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The settings by which Foldgate reaches the stand-in, beside its default upstream. */
export const cheapUpstream = (model: Pick<SummaryModel, 'url'>): Upstreams => ({ [NAME]: { url: model.url } })

/** A profile, as its file would say it, whose summaries the stand-in writes; what else it says stays. */
export function withCheapSummaries(profile: object): object {
  const summary = 'summary' in profile && isObject(profile.summary) ? profile.summary : {}
  return { strategy: 'summarize', ...profile, summary: { upstream: NAME, model: 'cheap-1', ...summary } }
}

const TEXT_TOKENS_MAX = 900
const QUIET_ROUNDS = 5
const QUIET_ROUND_MS = 5
const REASONING = 'First I look at what the conversation was about, then I write it down in sections.'

const aCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'read_file', arguments: '{"path":"a.ts"}' },
}

type Maybe<Value> = Value | Promise<Value>

type Running = { -readonly [Key in keyof SummaryCall]: SummaryCall[Key] }

/** Status null: none is given. */
type Answer = {
  readonly status: number | null
  readonly message?: Readonly<Record<string, unknown>>
  readonly finishReason?: string
  readonly error?: object
  readonly headers?: Readonly<Record<string, string>>
}

type Frame = { readonly model: string; readonly usage: readonly [prompt: number, completion: number] }

const saying = (content: string | null, more: object = {}): Answer => ({
  status: 200,
  message: { content, ...more },
})

const messagesOf = (body: Record<string, unknown>): readonly WireMessage[] =>
  Array.isArray(body['messages']) ? body['messages'].filter(isObject) : []

/** Everything but the system messages: mostly one user message with a transcript, or a conversation as it went. */
const spokenText = (messages: readonly WireMessage[]): string =>
  messages
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .flatMap((message) => [
      ...textsOf(message.content),
      ...callsOf(message).map(({ name, argumentsText }) => `${name} ${argumentsText}`),
    ])
    .join('\n')

/** What a confused model repeats: its system message, or how the user's begins. */
function instructionsOf(call: SummaryCall): string {
  const system = messagesOf(call.body).find(({ role }) => role === 'system' || role === 'developer')
  return system === undefined ? call.text.slice(0, 2000) : textsOf(system.content).join('\n')
}

function gibberish(promptTokens: number): string {
  // Each of these numbers is two tokens and more, and a transcript may be a fraction of what it stands for.
  return Array.from({ length: 4 * promptTokens + 100 }, (_, index) => `${(index * 7919) % 100_003}`).join(' ')
}

function overflow(windowTokens: number, promptTokens: number): Answer {
  const message = `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`
  return refusal(400, message, 'context_length_exceeded', 'messages')
}

function unsupported(name: string): Answer {
  const instead = name === 'max_tokens' ? " Use 'max_completion_tokens' instead." : ''
  const message = `Unsupported parameter: '${name}' is not supported with this model.${instead}`
  return refusal(400, message, 'unsupported_parameter', name)
}

function refusal(status: number, message: string, code: string | null, param: string | null = null): Answer {
  const type = status === 500 ? 'server_error' : 'invalid_request_error'
  return { status, error: { message, type, param, code } }
}

function send(response: ServerResponse, answer: Answer, { model, usage: [prompt, completion] }: Frame): void {
  const message = { role: 'assistant', ...answer.message }
  const choices = [{ index: 0, message, finish_reason: answer.finishReason ?? 'stop' }]
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  const completed = { id: 'chatcmpl-summary', object: 'chat.completion', created: 1, model, choices, usage }
  response.writeHead(answer.status ?? 500, { 'content-type': 'application/json', ...answer.headers })
  response.end(JSON.stringify(answer.error === undefined ? completed : { error: answer.error }))
}

const NAME = 'cheap'
