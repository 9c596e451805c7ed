import { hash } from 'node:crypto'
import type { PromptPart } from '../../support/strict-upstream/prefix-cache.ts'
import { REPLY_TOKENS, openPromptCounter } from '../../support/strict-upstream/prompt-tokens.ts'
import { textOf, type WireMessage } from '../../support/strict-upstream/wire-message.ts'

/** How a server turns what it was sent into a number of tokens. */
export type Tokenizer = {
  /** Its tokens for one of ours, Chinese, Japanese and Korean text apart. */
  readonly ratio: number
  /** The same for that text. */
  readonly cjkRatio: number
  readonly countsImages: boolean
  /** Of what the model thought: all, what it thought since the latest user message, or nothing. */
  readonly countsThoughts: 'all' | 'newest' | 'none'
}

/** A prompt as its server counted it, in the server's tokens. */
export type CountedPrompt = {
  readonly promptTokens: number
  /** Of these, what the server had seen before, to the token. */
  readonly sharedTokens: number
  readonly completionTokens: number
}

/** The members of an answer, or of a chunk, that say what it cost. */
export type Statement = Readonly<Record<string, unknown>>

/** One honest way to report what a prompt cost. */
export type UsageKind = {
  readonly name: string
  /** Of which servers it is true. */
  readonly field: string
  /** One for each replica behind the address; each has a cache of its own. */
  readonly replicas: readonly Tokenizer[]
  /** Which replica gets the request of this number. */
  readonly replicaAt: (request: number) => number
  readonly state: (counted: CountedPrompt) => Statement
  /** Where a stream says it: in a chunk of its own if the client asks, in one unasked, in all of them, in `x_groq`. */
  readonly inStreams: 'asked' | 'unasked' | 'every-chunk' | 'x-groq'
  /** What clients of such servers send beside texts, which the recordings have little of. */
  readonly added: 'thoughts' | 'think-tags' | 'images' | null
}

/** A tokenizer that agrees with ours. */
export const ourTokenizer: Tokenizer = { ratio: 1, cjkRatio: 1, countsImages: true, countsThoughts: 'all' }

/** All the ways in the field, November 2026. */
export const usageKinds: readonly UsageKind[] = [
  kind('openai', 'OpenAI, Azure, vLLM with its cache reported: cached tokens are among the prompt tokens'),
  kind('deepseek', 'DeepSeek: the prompt as the sum of cache hits and misses', {
    state: ({ promptTokens, sharedTokens, completionTokens }) => {
      const hit = inSteps(sharedTokens, 64, 64)
      const split = { prompt_cache_hit_tokens: hit, prompt_cache_miss_tokens: promptTokens - hit }
      return usage(promptTokens, completionTokens, split)
    },
  }),
  kind('moonshot', 'Moonshot: cached tokens at the top level', {
    state: ({ promptTokens, sharedTokens, completionTokens }) =>
      usage(promptTokens, completionTokens, { cached_tokens: inSteps(sharedTokens, 256, 256) }),
  }),
  kind('litellm', 'LiteLLM before Anthropic: all of the prompt, and what was read and written beside it', {
    state: ({ promptTokens, sharedTokens, completionTokens }) => {
      const read = inSteps(sharedTokens, 1, 1024)
      const written = promptTokens - read - AFTER_MARK_TOKENS
      return usage(promptTokens, completionTokens, {
        prompt_tokens_details: { cached_tokens: read, cache_creation_tokens: Math.max(0, written) },
        cache_creation_input_tokens: Math.max(0, written),
        cache_read_input_tokens: read,
      })
    },
  }),
  kind(
    'uncached',
    'gateways that pass Anthropic’s numbers on: the prompt is what was neither read nor written',
    {
      state: ({ promptTokens, sharedTokens, completionTokens }) => {
        const read = inSteps(sharedTokens, 1, 1024)
        const cache = { cache_creation_input_tokens: 0, cache_read_input_tokens: read }
        return usage(promptTokens - read, completionTokens, cache)
      },
    },
  ),
  kind('uncached-written', 'the same where the client marks its newest message, as Claude’s clients do', {
    state: ({ promptTokens, sharedTokens, completionTokens }) => {
      const read = inSteps(sharedTokens, 1, 1024)
      const written = Math.max(0, promptTokens - read - AFTER_MARK_TOKENS)
      const cache = { cache_creation_input_tokens: written, cache_read_input_tokens: read }
      return usage(promptTokens - read - written, completionTokens, cache)
    },
  }),
  kind('uncached-bare', 'gateways that count what was computed and drop what they say of the cache', {
    state: ({ promptTokens, sharedTokens, completionTokens }) =>
      usage(promptTokens - inSteps(sharedTokens, 16, 16), completionTokens),
  }),
  ...[64, 128, 256].map((block) =>
    kind(
      `blocks-${block}`,
      `servers that count in blocks of ${block} tokens of their memory, the last one left out`,
      {
        state: ({ promptTokens, completionTokens }) =>
          usage(inSteps(promptTokens, block, 0), completionTokens),
      },
    ),
  ),
  kind('thoughts-dropped', 'templates that leave out what was thought before the latest user message', {
    replicas: [{ ...ourTokenizer, countsThoughts: 'newest' }],
    added: 'thoughts',
  }),
  kind('thoughts-ignored', 'servers that read no reasoning in requests', {
    replicas: [{ ...ourTokenizer, countsThoughts: 'none' }],
    added: 'thoughts',
  }),
  kind('think-tags', 'templates that cut <think> out of older replies: Qwen, DeepSeek', {
    replicas: [{ ...ourTokenizer, countsThoughts: 'newest' }],
    added: 'think-tags',
  }),
  kind('none', 'servers that state no usage', { state: () => ({}) }),
  kind('zero', 'servers and gateways that fill in noughts', { state: () => usage(0, 0) }),
  kind('constant', 'mocks and gateways that always say the same', { state: () => usage(1000, 10) }),
  kind('images-uncounted', 'servers that count the text of a prompt alone', {
    replicas: [{ ...ourTokenizer, countsImages: false }],
    added: 'images',
  }),
  kind('chinese', 'models made for Chinese: two thirds of our tokens for it', {
    replicas: [{ ...ourTokenizer, cjkRatio: 0.65 }],
  }),
  ...[0.8, 1.25, 1.6].map((ratio) =>
    kind(`ratio-${ratio}`, `tokenizers with ${ratio} tokens for one of ours`, {
      replicas: [{ ...ourTokenizer, ratio, cjkRatio: ratio }],
    }),
  ),
  kind('growing', 'xAI, Gemini: every chunk of a stream has the usage so far', { inStreams: 'every-chunk' }),
  kind('x-groq', 'Groq: streams have the usage in `x_groq` alone', { inStreams: 'x-groq' }),
  kind('timings', 'llama.cpp’s server where usage is not asked for: timings at the end of every stream', {
    state: ({ promptTokens, sharedTokens, completionTokens }) => {
      // At least one token is computed, or there would be nothing to go on from.
      const cached = Math.min(sharedTokens, promptTokens - 1)
      return {
        timings: {
          cache_n: cached,
          prompt_n: promptTokens - cached,
          predicted_n: completionTokens,
          predicted_ms: 1,
        },
      }
    },
    inStreams: 'unasked',
  }),
  kind(
    'cache-lost',
    'OpenAI’s way behind a balancer: every fifth request meets a replica without the cache',
    {
      replicas: [ourTokenizer, ourTokenizer],
      replicaAt: everyFifth,
    },
  ),
  kind(
    'uncached-cache-lost',
    'the same where the prompt is what was computed, and nothing is said of the cache',
    {
      replicas: [ourTokenizer, ourTokenizer],
      replicaAt: everyFifth,
      state: ({ promptTokens, sharedTokens, completionTokens }) =>
        usage(promptTokens - inSteps(sharedTokens, 16, 16), completionTokens),
    },
  ),
  kind('two-counts', 'one name for two providers whose counts differ by a tenth, by turns', {
    replicas: [ourTokenizer, { ...ourTokenizer, ratio: 1.1, cjkRatio: 1.1 }],
    replicaAt: (request) => request % 2,
  }),
]

/** The usage of an answer as OpenAI states it, without what it says of its cache. */
export function usage(promptTokens: number, completionTokens: number, more: object = {}): Statement {
  const total = promptTokens + completionTokens
  return {
    usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: total, ...more },
  }
}

/** What a server is sent, as far as it makes up the prompt. */
export type Prompt = {
  readonly messages: readonly PromptMessage[]
  readonly tools: unknown
  /** Equal for tools of equal JSON. */
  readonly toolsKey: string
}

export type PromptMessage = {
  readonly message: WireMessage
  /** Equal for messages of equal JSON. */
  readonly key: string
}

export type TrueCounter = {
  /** The tools, then each message, in the server's tokens. */
  readonly parts: (prompt: Prompt) => readonly PromptPart[]
  /** The whole prompt, in whole tokens. */
  readonly total: (parts: readonly PromptPart[]) => number
  readonly text: (text: string) => number
}

/** Counts prompts as a server with this tokenizer does, each message once. `count` is our own. */
export function openTrueCounter(tokenizer: Tokenizer, count: (text: string) => number): TrueCounter {
  const { ratio, cjkRatio, countsImages, countsThoughts } = tokenizer
  const text = (written: string) => {
    const cjk = written.match(cjkRuns)?.join('') ?? ''
    if (cjk === '' || cjkRatio === ratio) return count(written) * ratio
    return count(written.replaceAll(cjkRuns, '')) * ratio + count(cjk) * cjkRatio
  }
  const counter = openPromptCounter(text)

  return {
    parts: ({ messages, tools, toolsKey }) => {
      const latestUser = messages.findLastIndex(({ message }) => message.role === 'user')
      const parts = messages.map(({ message, key }, index): PromptPart => {
        const isThought = countsThoughts === 'all' || (countsThoughts === 'newest' && index > latestUser)
        const name = isThought ? key : `${key} without its thought`
        return { hash: name, tokens: counter.message(name, shown(message, isThought)), text: null }
      })
      return [{ hash: toolsKey, tokens: counter.tools(toolsKey, tools), text: null }, ...parts]
    },
    total: (parts) => Math.round(REPLY_TOKENS + parts.reduce((sum, { tokens }) => sum + tokens, 0)),
    text,
  }

  /** A message as the template writes it. */
  function shown(message: WireMessage, isThought: boolean): WireMessage {
    const texts =
      countsImages || !Array.isArray(message.content) ? message.content : withoutMedia(message.content)
    if (message.role !== 'assistant') return { ...message, content: texts }
    if (!isThought) return { ...message, content: withoutThought(texts) }
    const thought = 'reasoning_content' in message ? textOf(message.reasoning_content) : ''
    return { ...message, content: thought === '' ? texts : `${thought}\n${textOf(texts)}` }
  }
}

/** What tells a message, or tools, from others, by their JSON. */
export function keyOf(raw: string): string {
  return hash('sha1', raw)
}

// --- internal ---

/** What stands behind the newest mark for a cache. */
const AFTER_MARK_TOKENS = 8

/** A kind is OpenAI's way, but for what is said otherwise. */
function kind(
  name: string,
  field: string,
  otherwise: Partial<Omit<UsageKind, 'name' | 'field'>> = {},
): UsageKind {
  return {
    name,
    field,
    replicas: [ourTokenizer],
    replicaAt: () => 0,
    state: stateOpenai,
    inStreams: 'asked',
    added: null,
    ...otherwise,
  }
}

function stateOpenai({ promptTokens, sharedTokens, completionTokens }: CountedPrompt): Statement {
  const details = { cached_tokens: inSteps(sharedTokens, 128, 1024), audio_tokens: 0 }
  return usage(promptTokens, completionTokens, { prompt_tokens_details: details })
}

/** So many tokens in whole steps; none below the least that counts. */
function inSteps(tokens: number, step: number, least: number): number {
  return tokens < least ? 0 : Math.floor(tokens / step) * step
}

function everyFifth(request: number): number {
  return request % 5 === 4 ? 1 : 0
}

/** Han, kana, hangul, and the marks and full-width forms that go with them. */
const cjkRuns = /[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+/g

function withoutMedia(content: readonly unknown[]): readonly unknown[] {
  return content.filter((part) => typeof part === 'object' && part !== null && 'text' in part)
}

function withoutThought(content: unknown): unknown {
  return typeof content === 'string' ? content.replace(/<think>[^]*<\/think>/, '') : content
}
