import { openPrefixCache, type PromptPart } from '../../support/strict-upstream/prefix-cache.ts'
import { openTrueCounter, type Prompt, type TrueCounter } from './true-count.ts'
import { ourTokenizer, usage, type Statement, type UsageKind } from './usage-kinds.ts'

/** What a server makes of one request. */
export type Outcome = {
  /** What it had to read, by its own count, before anything was left out. */
  readonly promptTokens: number
  /** What it says of the cost; null where it refuses. */
  readonly statement: Statement | null
  /** Whether it left out part of the prompt. */
  readonly isCut: boolean
}

/** A server without its sockets. */
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
  {
    windowTokens,
    isStrict,
    count,
  }: { readonly windowTokens: number; readonly isStrict: boolean; readonly count: Count },
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
      return {
        promptTokens,
        statement: kind.state({ promptTokens, sharedTokens, completionTokens }),
        isCut: false,
      }
    },
    sizeOf: (prompt) => (last === undefined ? 0 : last.counter.total(last.counter.parts(prompt))),
    inStreams: kind.inStreams,
    fingerprint: null,
    told: () => null,
  }
}

/** How much of Ollama a client gets to see. */
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

/** The model that an Ollama runs. */
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
      if (path === '/api/ps')
        return {
          models: isLoaded ? [{ name: OLLAMA_MODEL, model: OLLAMA_MODEL, context_length: numContext }] : [],
        }
      return null
    },
  }
}

/** What servers answer. */
export const REPLY = 'That is done.'

// --- internal ---

/** Qwen's and Llama's tokenizers take a little more than ours. */
const OLLAMA_RATIO = 1.08

const counters = new Map<string, TrueCounter>()

/** Counts are kept for all conversations of a process. */
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
