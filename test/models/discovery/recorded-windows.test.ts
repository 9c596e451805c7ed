import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { windowServer, windowStand, type Routes } from './window-server.ts'

type Recorded = {
  readonly server: string
  readonly request: string
  readonly example: object
}

const path = process.env['FOLDGATE_WINDOW_ANSWERS'] ?? ''

/** The collection is read where somebody has it: FOLDGATE_WINDOW_ANSWERS names the file. */
function readRecorded(): readonly Recorded[] {
  const parsed: Recorded[] = path === '' ? [] : JSON.parse(readFileSync(path, 'utf8'))
  return parsed
}

const total = (tokens: number, inputTokens: number | null = null) => ({ tokens, inputTokens, kind: 'total' })
const input = (tokens: number) => ({ tokens, inputTokens: null, kind: 'input' })

/** What each entry's example means: server, method and path, the model asked for, its window. */
const expected: readonly (readonly [
  string,
  string,
  string,
  ReturnType<typeof total | typeof input> | null,
])[] = [
  ['vLLM', 'GET /v1/models', 'Qwen/Qwen3-8B', total(40_960)],
  ['SGLang', 'GET /v1/models', 'qwen', total(32_768)],
  ['llama.cpp llama-server', 'GET /props', 'any', total(8192)],
  ['llama.cpp llama-server', 'GET /v1/models', 'any', total(8192)],
  ['llama-cpp-python', 'GET /v1/models', 'm', null],
  ['Ollama', 'GET /api/ps', 'qwen3:8b', total(4096)],
  ['Ollama', 'POST /api/show', 'qwen3', total(32_768)],
  ['LM Studio', 'GET /api/v0/models', 'qwen2.5-coder-7b', total(7866)],
  ['KoboldCpp', 'GET /api/extra/true_max_context_length', 'any', total(8192)],
  ['TGI', 'GET /info', 'any', total(4096, 3072)],
  ['TensorRT-LLM / NIM', 'GET /v1/models', 'meta/llama-3.1-8b-instruct', total(131_072)],
  ['OpenRouter', 'GET /api/v1/models', 'qwen/qwen3-coder', total(262_144)],
  ['Groq', 'GET /openai/v1/models', 'llama-3.3-70b-versatile', total(131_072)],
  ['Mistral', 'GET /v1/models', 'mistral-large-2512', total(262_144)],
  ['Together', 'GET /v1/models', 'Qwen/Qwen3-235B-A22B', total(262_144)],
  ['Fireworks', 'GET /inference/v1/models', 'accounts/fireworks/models/kimi-k2p6', total(262_144)],
  ['HuggingFace router', 'GET /v1/models', 'Qwen/Qwen3-32B', total(131_072)],
  ['Moonshot', 'GET /v1/models', 'kimi-k3', total(1_048_576)],
  ['Anthropic', 'GET /v1/models', 'claude-opus-5-5', input(1_000_000)],
  ['Gemini', 'GET /v1beta/models', 'gemini-3.8-flash', input(1_048_576)],
  ['xAI', 'GET /v1/language-models', 'grok-4.7', input(500_000)],
  ['GitHub Copilot', 'GET /models', 'gpt-5.5', total(1_050_000, 922_000)],
  ['GitHub Models', 'GET /catalog/models', 'openai/gpt-4.1', input(1_048_576)],
  ['LiteLLM proxy', 'GET /v1/model/info', 'gpt-4o', input(128_000)],
  ['Vercel AI Gateway', 'GET /v1/models', 'openai/gpt-5.5', total(1_050_000)],
  [
    'Cloudflare Workers AI',
    'GET /client/v4/accounts/id/ai/models/search',
    '@cf/meta/llama-3.1-8b-instruct',
    total(7968),
  ],
  ['Baseten / Chutes / OVH / LLMGateway / Venice / Requesty', 'GET /v1/models', 'x', total(131_072)],
  ['DeepInfra', 'GET /v1/openai/models', 'Qwen/Qwen3-32B', total(40_960)],
  ['SambaNova', 'GET /v1/models', 'DeepSeek-V3.1', total(131_072)],
  ['Cerebras', 'GET /public/v1/models', 'gpt-oss-120b', total(131_072)],
  [
    'OpenAI / Azure / DeepSeek / DashScope / Zhipu / MiniMax / Perplexity / Databricks / Bedrock',
    'GET /models',
    'gpt-5.5',
    null,
  ],
]

/** Where a client's requests would go at a server that has this endpoint. */
function baseOf(endpoint: string): string {
  const at = endpoint.slice(endpoint.indexOf(' ') + 1)
  if (at === '/v1beta/models') return '/v1beta/openai'
  if (at === '/catalog/models') return '/inference'
  if (at.endsWith('/ai/models/search')) return at.replace('/models/search', '/v1')
  return /\/(?:models|language-models)$/.test(at) && !/^\/(?:api\/v0|public)/.test(at)
    ? at.replace(/\/[\w-]+$/, '')
    : '/v1'
}

describe('recorded answers of servers mean the windows that they mean', () => {
  test.skipIf(path !== '')('skipped, because FOLDGATE_WINDOW_ANSWERS names no file', ({ skip }) => {
    expect(readRecorded()).toEqual([])
    skip()
  })

  test.skipIf(path === '')('every entry is known here, in its order', () => {
    expect(readRecorded().map(({ server }) => server)).toEqual(expected.map(([server]) => server))
  })

  test.each(readRecorded().map((recorded, at) => ({ ...recorded, at })))(
    '$server: $request',
    async ({ example, at }) => {
      const [, endpoint = '', model = '', window = null] = expected[at] ?? []
      const routes: Routes = { [endpoint]: example }
      if (endpoint === 'POST /api/show') routes['GET /api/ps'] = { models: [] }
      await using server = await windowServer(routes)
      await using stand = windowStand(`${server.origin}${baseOf(endpoint)}`)
      const found = await stand.ask(model)
      if (window === null) expect(found).toBeNull()
      else expect(found).toMatchObject({ ...window })
      expect(stand.troubles).toEqual([])
    },
  )
})
