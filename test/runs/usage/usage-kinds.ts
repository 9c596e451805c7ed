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
  readonly field: string
  /** One for each replica behind the address; each has a cache of its own. */
  readonly replicas: readonly Tokenizer[]
  readonly replicaAt: (request: number) => number
  readonly state: (counted: CountedPrompt) => Statement
  /** Where a stream says it: in a chunk of its own if the client asks, in one unasked, in all of them, in `x_groq`. */
  readonly inStreams: 'asked' | 'unasked' | 'every-chunk' | 'x-groq'
  /** What clients of such servers send beside texts, which the recordings have little of. */
  readonly added: 'thoughts' | 'think-tags' | 'images' | null
}

export const ourTokenizer: Tokenizer = { ratio: 1, cjkRatio: 1, countsImages: true, countsThoughts: 'all' }

/** All the ways in the field, November 2026: each is OpenAI's way, but for what is said otherwise. */
export const usageKinds: readonly UsageKind[] = [
  kind('openai', 'OpenAI, Azure, vLLM with its cache reported: cached tokens are among the prompt tokens'),
  kind('deepseek', 'DeepSeek: the prompt as the sum of cache hits and misses', {
    state: cached(64, 64, (hit, prompt) => [
      prompt,
      { prompt_cache_hit_tokens: hit, prompt_cache_miss_tokens: prompt - hit },
    ]),
  }),
  kind('moonshot', 'Moonshot: cached tokens at the top level', {
    state: cached(256, 256, (read, prompt) => [prompt, { cached_tokens: read }]),
  }),
  kind('litellm', 'LiteLLM before Anthropic: all of the prompt, and what was read and written beside it', {
    state: cached(1, 1024, (read, prompt) => {
      const written = writtenOf(read, prompt)
      const details = { cached_tokens: read, cache_creation_tokens: written }
      return [prompt, { prompt_tokens_details: details, ...anthropicCache(read, written) }]
    }),
  }),
  kind(
    'uncached',
    'gateways that pass Anthropic’s numbers on: the prompt is what was neither read nor written',
    { state: cached(1, 1024, (read, prompt) => [prompt - read, anthropicCache(read, 0)]) },
  ),
  kind('uncached-written', 'the same where the client marks its newest message, as Claude’s clients do', {
    state: cached(1, 1024, (read, prompt) => {
      const written = writtenOf(read, prompt)
      return [prompt - read - written, anthropicCache(read, written)]
    }),
  }),
  kind('uncached-bare', 'gateways that count what was computed and drop what they say of the cache', {
    state: computedAlone,
  }),
  ...[64, 128, 256].map((block) =>
    kind(
      `blocks-${block}`,
      `servers that count in blocks of ${block} tokens of their memory, the last one left out`,
      { state: cached(1, 0, (_, prompt) => [inSteps(prompt, block, 0)]) },
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
    state: ({ promptTokens, sharedTokens, completionTokens: predicted_n }) => {
      // At least one token is computed, or there would be nothing to go on from.
      const cache_n = Math.min(sharedTokens, promptTokens - 1)
      return { timings: { cache_n, prompt_n: promptTokens - cache_n, predicted_n, predicted_ms: 1 } }
    },
    inStreams: 'unasked',
  }),
  kind(
    'cache-lost',
    'OpenAI’s way behind a balancer: every fifth request meets a replica without the cache',
    { replicas: [ourTokenizer, ourTokenizer], replicaAt: everyFifth },
  ),
  kind(
    'uncached-cache-lost',
    'the same where the prompt is what was computed, and nothing is said of the cache',
    { replicas: [ourTokenizer, ourTokenizer], replicaAt: everyFifth, state: computedAlone },
  ),
  kind('two-counts', 'one name for two providers whose counts differ by a tenth, by turns', {
    replicas: [ourTokenizer, { ...ourTokenizer, ratio: 1.1, cjkRatio: 1.1 }],
    replicaAt: (request) => request % 2,
  }),
]

export function usage(promptTokens: number, completionTokens: number, more: object = {}): Statement {
  const total = promptTokens + completionTokens
  return {
    usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: total, ...more },
  }
}

/** What a server is sent, as far as it makes up the prompt. */
export type Prompt = {
  readonly messages: readonly { readonly message: WireMessage; readonly key: string }[]
  readonly tools: unknown
  readonly toolsKey: string
}

export type TrueCounter = ReturnType<typeof openTrueCounter>

/** Counts prompts as a server with this tokenizer does, each message once. `count` is our own. */
export function openTrueCounter(tokenizer: Tokenizer, count: (text: string) => number) {
  const { ratio, cjkRatio, countsImages, countsThoughts } = tokenizer
  const text = (written: string) => {
    const cjk = written.match(cjkRuns)?.join('') ?? ''
    if (cjk === '' || cjkRatio === ratio) return count(written) * ratio
    return count(written.replaceAll(cjkRuns, '')) * ratio + count(cjk) * cjkRatio
  }
  const counter = openPromptCounter(text)

  return {
    /** The tools, then each message, in the server's tokens. */
    parts: ({ messages, tools, toolsKey }: Prompt): readonly PromptPart[] => {
      const latestUser = messages.findLastIndex(({ message }) => message.role === 'user')
      const parts = messages.map(({ message, key }, index): PromptPart => {
        const isThought = countsThoughts === 'all' || (countsThoughts === 'newest' && index > latestUser)
        const name = isThought ? key : `${key} without its thought`
        return { hash: name, tokens: counter.message(name, shown(message, isThought)), text: null }
      })
      return [{ hash: toolsKey, tokens: counter.tools(toolsKey, tools), text: null }, ...parts]
    },
    total: (parts: readonly PromptPart[]) =>
      Math.round(REPLY_TOKENS + parts.reduce((sum, { tokens }) => sum + tokens, 0)),
    text,
  }

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
export const keyOf = (raw: string): string => hash('sha1', raw)

function kind(
  name: string,
  field: string,
  otherwise: Partial<Omit<UsageKind, 'name' | 'field'>> = {},
): UsageKind {
  const state = cached(128, 1024, (read, prompt) => [
    prompt,
    { prompt_tokens_details: { cached_tokens: read, audio_tokens: 0 } },
  ])
  const usual = {
    replicas: [ourTokenizer],
    replicaAt: () => 0,
    state,
    inStreams: 'asked',
    added: null,
  } as const
  return { name, field, ...usual, ...otherwise }
}

/** A cache that is counted in such steps, from so many tokens on: `tell` gives the prompt tokens, and what is told beside them. */
function cached(
  step: number,
  least: number,
  tell: (readTokens: number, promptTokens: number) => readonly [promptTokens: number, more?: object],
): UsageKind['state'] {
  return ({ promptTokens, sharedTokens, completionTokens }) => {
    const [told, more] = tell(inSteps(sharedTokens, step, least), promptTokens)
    return usage(told, completionTokens, more)
  }
}

function computedAlone(counted: CountedPrompt): Statement {
  return cached(16, 16, (read, prompt) => [prompt - read])(counted)
}

/** All but 8 tokens, which stand behind the newest mark for a cache. */
function writtenOf(readTokens: number, promptTokens: number): number {
  return Math.max(0, promptTokens - readTokens - 8)
}

function anthropicCache(cache_read_input_tokens: number, cache_creation_input_tokens: number): object {
  return { cache_creation_input_tokens, cache_read_input_tokens }
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

const withoutMedia = (content: readonly unknown[]): readonly unknown[] =>
  content.filter((part) => typeof part === 'object' && part !== null && 'text' in part)

const withoutThought = (content: unknown): unknown =>
  typeof content === 'string' ? content.replace(/<think>[^]*<\/think>/, '') : content
