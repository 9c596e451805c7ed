import { fakeUpstream, json } from '../../support/fake-upstream.ts'
import { openPrefixCache, type PromptPart } from '../../support/strict-upstream/prefix-cache.ts'
import { cutRawRequest } from '../../support/strict-upstream/raw-request.ts'
import { isObject, textOf } from '../../support/strict-upstream/wire-message.ts'
import {
  keyOf,
  openTrueCounter,
  ourTokenizer,
  usage,
  type Prompt,
  type Statement,
  type TrueCounter,
  type UsageKind,
} from './usage-kinds.ts'

export type Outcome = {
  readonly promptTokens: number
  readonly statement: Statement | null
  readonly isCut: boolean
}

export type Server = {
  /** In tokens, as the server takes the window it is asked about: prompt and reply. */
  readonly windowTokens: number
  readonly take: (prompt: Prompt, outputTokens: number) => Outcome
  /** The size of a prompt by the tokenizer of the replica that answered last. */
  readonly sizeOf: (prompt: Prompt) => number
  readonly inStreams: UsageKind['inStreams']
  readonly fingerprint: string | null
  /** What it answers to a question of Foldgate's own, by path; null where there is nothing. */
  readonly told: (path: string) => object | null
}

type Count = (text: string) => number

/** Counts and reports honestly; refuses what exceeds its window if it is strict, else takes anything. */
export function honestServer(
  kind: UsageKind,
  { windowTokens, isStrict, count }: { windowTokens: number; isStrict: boolean; count: Count },
): Server {
  const replicas = kind.replicas.map((tokenizer) => {
    const counter = countersOf(tokenizer, count)
    return { counter, cache: openPrefixCache({ minimumTokens: 0, stepTokens: 1, count }) }
  })
  let requests = 0
  let last = replicas[0]
  return {
    windowTokens,
    take: (prompt, outputTokens) => {
      const replica = replicas[kind.replicaAt(requests)]
      requests += 1
      if (replica === undefined) throw new Error(`${kind.name} has no such replica`)
      last = replica
      const parts = replica.counter.parts(prompt)
      const promptTokens = replica.counter.total(parts)
      if (isStrict && promptTokens + outputTokens > windowTokens)
        return { promptTokens, statement: null, isCut: false }
      const sharedTokens = Math.min(promptTokens, Math.floor(replica.cache.serve('', parts)))
      const completionTokens = Math.max(1, Math.round(replica.counter.text(REPLY)))
      const statement = kind.state({ promptTokens, sharedTokens, completionTokens })
      return { promptTokens, statement, isCut: false }
    },
    sizeOf: (prompt) => (last === undefined ? 0 : last.counter.total(last.counter.parts(prompt))),
    inStreams: kind.inStreams,
    fingerprint: null,
    told: () => null,
  }
}

export const ollamaKinds = [
  { name: 'ollama', field: 'Ollama itself', fingerprint: 'fp_ollama', isAsked: true },
  {
    name: 'ollama-v1',
    field: 'Ollama of which only /v1 is exposed',
    fingerprint: 'fp_ollama',
    isAsked: false,
  },
  {
    name: 'ollama-gateway',
    field: 'Ollama behind a gateway of another name',
    fingerprint: null,
    isAsked: false,
  },
] as const

export type OllamaKind = (typeof ollamaKinds)[number]
export const OLLAMA_MODEL = 'qwen3:8b'

/**
 * Leaves out the oldest messages, but for system messages, until what is left fits `num_ctx`; the newest stays, and is
 * cut where it alone is too long. Counts what is left, and says nothing.
 */
export function ollamaServer(kind: OllamaKind, numContext: number, count: Count): Server {
  const counter = countersOf({ ...ourTokenizer, ratio: OLLAMA_RATIO, cjkRatio: OLLAMA_RATIO }, count)
  let isLoaded = false
  return {
    windowTokens: numContext,
    take: (prompt) => {
      isLoaded = true
      const parts = counter.parts(prompt)
      const promptTokens = counter.total(parts)
      const leftTokens = Math.min(numContext, counter.total(leftOf(prompt, parts, counter, numContext)))
      return { promptTokens, statement: usage(leftTokens, 2), isCut: leftTokens < promptTokens }
    },
    sizeOf: (prompt) => counter.total(counter.parts(prompt)),
    inStreams: 'asked',
    fingerprint: kind.fingerprint,
    told: (path) => {
      if (!kind.isAsked) return null
      if (path === '/api/version') return { version: '0.17.4' }
      const loaded = { name: OLLAMA_MODEL, model: OLLAMA_MODEL, context_length: numContext }
      return path === '/api/ps' ? { models: isLoaded ? [loaded] : [] } : null
    },
  }
}

const REPLY = 'That is done.'
type Received = { readonly prompt: Prompt; readonly outcome: Outcome }

/** Serves a server over sockets, plain and streamed. `takeReceived`: in their order, since they were last taken. */
export async function startUsageUpstream(server: Server) {
  const received: Received[] = []
  const { url, requests, close } = await fakeUpstream(
    (request, outgoing) => {
      requests.splice(0)
      // Beside other runs a stranger may ask at a port that was another's: a server says that there is nothing.
      if (request.method !== 'POST') return json({ error: 'not found' }, 404)
      const { body, prompt } = readPrompt(request.body.toString())
      const outputTokens = Number(body['max_completion_tokens'] ?? body['max_tokens'] ?? 0)
      const outcome = server.take(prompt, outputTokens)
      received.push({ prompt, outcome })
      const { statement, promptTokens } = outcome
      if (statement === null) return json(refusal(server.windowTokens, promptTokens, outputTokens), 400)
      const head = {
        id: 'chatcmpl-1',
        created: 1,
        model: textOf(body['model']),
        ...(server.fingerprint !== null && { system_fingerprint: server.fingerprint }),
      }
      if (body['stream'] !== true) return json(plain(head, statement))
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      const options = body['stream_options']
      const isAsked = isObject(options) && options['include_usage'] === true
      const events = streamed(head, statement, server.inStreams, isAsked).map(
        (value) => `data: ${JSON.stringify(value)}\n\n`,
      )
      return void outgoing.end(`${events.join('')}data: [DONE]\n\n`)
    },
    {
      onQuestion: (request) => {
        const told = server.told(request.url.split('?')[0] ?? '')
        return json(told ?? { error: 'not found' }, told === null ? 404 : 200)
      },
    },
  )
  return { url, close, takeReceived: () => received.splice(0) }
}

/** Qwen's and Llama's tokenizers take a little more than ours. */
const OLLAMA_RATIO = 1.08
const counters = new Map<string, TrueCounter>()

function countersOf(tokenizer: UsageKind['replicas'][number], count: Count): TrueCounter {
  const key = JSON.stringify(tokenizer)
  const counter = counters.get(key) ?? openTrueCounter(tokenizer, count)
  counters.set(key, counter)
  return counter
}

/** The tools, the system messages, and as many of the newest of the others as fit; one at the least. */
function leftOf(
  { messages }: Prompt,
  [tools, ...parts]: readonly PromptPart[],
  counter: TrueCounter,
  numContext: number,
): readonly PromptPart[] {
  const around = tools === undefined ? [] : [tools]
  const isSystem = (index: number) => messages[index]?.message.role === 'system'
  for (let start = 0; start < parts.length; start += 1) {
    const left = [...around, ...parts.filter((_, index) => index >= start || isSystem(index))]
    if (start === parts.length - 1 || counter.total(left) <= numContext) return left
  }
  return around
}

function readPrompt(text: string): { readonly body: Record<string, unknown>; readonly prompt: Prompt } {
  const value: unknown = JSON.parse(text)
  const body = isObject(value) ? value : {}
  const raw = cutRawRequest(text)
  const messages = (Array.isArray(body['messages']) ? body['messages'] : [])
    .filter(isObject)
    .map((message, index) => ({ message, key: keyOf(raw.messages[index] ?? '') }))
  return { body, prompt: { messages, tools: body['tools'], toolsKey: keyOf(raw.tools) } }
}

type Head = Readonly<Record<string, unknown>>

function plain(head: Head, statement: object): object {
  const message = { role: 'assistant', content: REPLY }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  return { ...head, object: 'chat.completion', choices, ...statement }
}

function streamed(head: Head, statement: object, inStreams: Server['inStreams'], isAsked: boolean) {
  const chunk = (delta: object, finish: string | null, more: object = {}) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
  const everywhere = inStreams === 'every-chunk' ? statement : {}
  const atTheEnd = inStreams === 'asked' ? {} : statement
  const last = inStreams === 'x-groq' ? { x_groq: { id: 'req_1', ...statement } } : atTheEnd
  const own = { ...head, object: 'chat.completion.chunk', choices: [], ...statement }
  return [
    chunk({ role: 'assistant', content: '' }, null, everywhere),
    ...REPLY.split(/(?<= )/).map((content) => chunk({ content }, null, everywhere)),
    chunk({}, 'stop', last),
    ...(inStreams === 'asked' && isAsked ? [own] : []),
  ]
}

function refusal(windowTokens: number, promptTokens: number, outputTokens: number): object {
  const total = promptTokens + outputTokens
  const asked =
    outputTokens > 0
      ? `you requested ${total} tokens (${promptTokens} in the messages, ${outputTokens} in the completion)`
      : `your messages resulted in ${promptTokens} tokens`
  const message = `This model's maximum context length is ${windowTokens} tokens. However, ${asked}. Please reduce the length of the messages${outputTokens > 0 ? ' or completion' : ''}.`
  const code = 'context_length_exceeded'
  return { error: { message, type: 'invalid_request_error', param: 'messages', code } }
}
