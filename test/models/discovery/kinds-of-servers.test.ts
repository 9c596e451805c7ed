import { expect, test } from 'vitest'
import { json } from '../../support/fake-upstream.ts'
import { discovery, list, props, type Routes } from './window-server.ts'

type Window = { readonly tokens: number; readonly kind: string; readonly inputTokens: number | null }

const total = (tokens: number, inputTokens: number | null = null) => ({ tokens, kind: 'total', inputTokens })
const input = (tokens: number) => ({ tokens, kind: 'input', inputTokens: null })

/** What is found out of a server with these endpoints, and what is told of its troubles. */
async function found(routes: Routes, model: string, base = '/v1') {
  await using at = await discovery(routes, { base })
  const window = await at.ask(model)
  const { tokens = 0, kind = '', inputTokens = null } = window ?? {}
  return { window: window === null ? null : { tokens, kind, inputTokens }, troubles: at.troubles }
}

/** Servers whose list of models tells it: their only row, the window, and the name where it is not the row's own. */
const listed: [string, object, Window | null, string?][] = [
  ['vLLM, NIM', { id: 'org/coder', owned_by: 'vllm', max_model_len: 24_576 }, total(24_576), 'org/coder'],
  [
    'llama-server',
    { owned_by: 'llamacpp', meta: { n_ctx: 12_288, n_ctx_train: 40_960 } },
    total(12_288),
    'x',
  ],
  ['an older llama-server', { owned_by: 'llamacpp', meta: { n_ctx_train: 40_960 } }, null],
  ['llama-cpp-python', { object: 'model', owned_by: 'me', permissions: [] }, null],
  ['Mistral', { aliases: ['large-latest'], max_context_length: 180_000 }, total(180_000), 'large-latest'],
  ['Moonshot', { owned_by: 'moonshot', context_length: 333_000 }, total(333_000)],
  ['Anthropic', { type: 'model', max_input_tokens: 444_000, max_tokens: 64_000 }, input(444_000)],
  ["Vercel's gateway", { context_window: 300_000 }, total(300_000)],
  ["Vercel's gateway where it does not know", { context_window: 0 }, null],
  ['Chutes', { context_length: 100_000, max_model_len: 90_000 }, total(90_000)],
  ['Venice', { model_spec: { availableContextTokens: 65_536 } }, total(65_536)],
  ['SambaNova', { id: 'M', context_length: 16_384, max_completion_tokens: 1 }, total(16_384), 'M'],
  ['a server like OpenAI', { object: 'model', created: 1, owned_by: 'openai' }, null],
  ['total and input', { context_length: 100_000, max_input_tokens: 80_000 }, total(100_000, 80_000)],
  ['an input of all of the total', { context_length: 100_000, max_input_tokens: 100_000 }, total(100_000)],
  // It was taken for 4,096: what would fit the machine, or a model's ceiling, is not what is loaded.
  [
    'a server that also states what would be possible',
    { context_length: 128_000, max_context_length: 4096, native_context_length: 262_144, loaded: true },
    total(128_000),
  ],
  [
    'the same with a ceiling above it',
    { context_length: 8192, max_context_length: 131_072, loaded: true },
    total(8192),
  ],
  [
    'a server of no known kind that states both',
    { context_length: 8192, max_context_length: 131_072 },
    total(131_072),
  ],
  ['figures as text', { context_length: ' 30000 ' }, total(30_000)],
]

test.each(listed)('the window in the list of %s', async (_, row, window, model = 'm') => {
  expect(await found(list({ id: 'm', ...row }), model)).toEqual({ window, troubles: [] })
})

// Who asks for a model under another of its names.
test.each([
  ['without the date', 'claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
  ['with a date', 'claude-haiku-4-5', 'claude-haiku-4-5-20251001'],
  ['as Claude Code names the long window', 'claude-opus-4-6', 'claude-opus-4-6[1m]'],
])('Anthropic and gateways to it, asked %s', async (_, id, model) => {
  const routes = list({ type: 'model', id, max_input_tokens: 200_000 })
  expect(await found(routes, model)).toEqual({ window: input(200_000), troubles: [] })
})

const providers = [
  { provider: 'one', status: 'live', context_length: 64_000 },
  { provider: 'two', status: 'live', context_length: 32_000 },
  { provider: 'three', status: 'staging', context_length: 8000 },
  { provider: 'four', status: 'live' },
]
const sglang = list({ id: 'm', owned_by: 'sglang', max_model_len: 32_768 })
const ollama = (show: object) => ({ 'GET /api/ps': { models: [] }, 'POST /api/show': show })
const architecture = (tokens: number) => ({ 'general.architecture': 'a', 'a.context_length': tokens })
const deployment = (model: string, tokens: number | null) => ({
  model_name: 'm',
  litellm_params: { model },
  model_info: { max_tokens: 9, max_input_tokens: tokens },
})
/** A list at another place than the usual one, with this key for its rows. */
const at = (path: string, rows: readonly object[], key = 'data') => ({ [`GET ${path}`]: { [key]: rows } })
const unloaded = { id: 'm', state: 'not-loaded', max_context_length: 65_536 }
const instances = [8000, 6000].map((tokens, index) => ({
  id: ['pub/m', 'pub/m:2'][index],
  config: { context_length: tokens },
}))
const cloudflareProperties = [
  { property_id: 'price', value: [] },
  { property_id: 'context_window', value: '24000' },
]
const copilotLimits = { max_context_window_tokens: 400_000, max_prompt_tokens: 272_000 }
const gemini = { name: 'models/m', displayName: 'G', inputTokenLimit: 900_000, outputTokenLimit: 8192 }

/** Servers that tell it in other ways, or by more than one row. */
const kinds: Readonly<Record<string, [Window | null, Routes, model?: string, base?: string]>> = {
  'vLLM with a LoRA adapter': [
    total(16_000),
    list(
      { id: 'base', owned_by: 'vllm', max_model_len: 16_000 },
      { id: 'm', owned_by: 'vllm', parent: 'base' },
    ),
  ],
  'SGLang whose memory holds less than the window': [
    total(20_000),
    { ...sglang, 'GET /get_server_info': { context_length: null, max_total_num_tokens: 20_000 } },
  ],
  'SGLang whose memory holds more than the window': [
    total(32_762),
    { ...sglang, 'GET /server_info': { max_total_num_tokens: 400_000, max_req_input_len: 32_762 } },
  ],
  'SGLang without its list': [
    total(10_000),
    { 'GET /server_info': { context_length: 10_000, max_total_num_tokens: 12_000 } },
  ],
  'llama-server by its properties, per slot': [
    total(6144),
    { 'GET /props': { ...props(6144), total_slots: 4 } },
  ],
  "llama-server's router with the model loaded": [
    total(9216),
    {
      ...list({ id: 'm', status: { value: 'loaded', args: [] } }, { id: 'n', status: { value: 'unloaded' } }),
      'GET /props': props(9216),
    },
  ],
  "llama-server's router with the model not loaded": [
    null,
    {
      ...list({ id: 'm', status: { value: 'unloaded' }, meta: { n_ctx: 40_960 } }),
      'GET /props': json({ error: { message: 'model is not loaded' } }, 400),
    },
  ],
  'an older llama-server by its properties': [
    total(5120),
    { 'GET /props': { default_generation_settings: { params: { n_ctx: 5120 } } } },
  ],
  'Ollama with the model loaded': [
    total(9216),
    {
      ...at('/api/ps', [{ name: 'm:latest', model: 'm:latest', context_length: 9216 }], 'models'),
      ...list({ id: 'm:latest', owned_by: 'library' }),
    },
  ],
  'Ollama with a setting': [
    total(18_000),
    ollama({ parameters: 'stop   "x"\nnum_ctx         18000', model_info: architecture(65_536) }),
  ],
  'Ollama with a setting above the model’s ceiling': [
    total(65_536),
    ollama({ parameters: 'num_ctx 99000', model_info: architecture(65_536) }),
  ],
  'Ollama without a setting': [total(4096), ollama({ model_info: architecture(65_536) })],
  'Ollama with a model of a small ceiling': [total(2048), ollama({ model_info: architecture(2048) })],
  'Ollama with a model in the cloud': [
    total(200_000),
    ollama({ remote_host: 'https://c.example', remote_model: 'big', model_info: architecture(200_000) }),
    'big:cloud',
  ],
  'LM Studio': [
    total(7001),
    {
      ...at('/api/v0/models', [
        { id: 'm', state: 'loaded', max_context_length: 65_536, loaded_context_length: 7001 },
        { ...unloaded, id: 'n' },
      ]),
      ...list({ id: 'm' }, { id: 'n' }),
    },
  ],
  'LM Studio with the model not loaded': [
    null,
    {
      ...at('/api/v0/models', [unloaded]),
      ...at('/api/v1/models', [{ key: 'm', loaded_instances: [], max_context_length: 65_536 }], 'models'),
    },
  ],
  "LM Studio's newer list": [
    total(6000),
    at(
      '/api/v1/models',
      [{ key: 'pub/m', max_context_length: 65_536, loaded_instances: instances }],
      'models',
    ),
    'pub/m:2',
  ],
  'LM Studio by its own path': [null, at('/api/v0/models', [unloaded]), 'm', '/api/v0'],
  KoboldCpp: [
    total(10_240),
    {
      'GET /api/extra/true_max_context_length': { value: 10_240 },
      ...at('/api/ps', [{ name: 'koboldcpp', model: 'koboldcpp' }], 'models'),
      'POST /api/show': { parameters: '', model_info: {} },
    },
  ],
  TGI: [total(8000, 7000), { 'GET /info': { max_input_tokens: 7000, max_total_tokens: 8000, router: 'x' } }],
  'an older TGI': [input(3000), { 'GET /info': { max_input_length: 3000 } }],
  'OpenRouter, by the provider that serves': [
    total(131_000),
    at('/api/v1/models', [{ id: 'a/b', context_length: 200_000, top_provider: { context_length: 131_000 } }]),
    'a/b:nitro',
    '/api/v1',
  ],
  'a choice behind a name that has a colon': [
    total(64_000),
    at('/api/v1/models', [{ id: 'a/b:32b', context_length: 64_000 }]),
    'a/b:32b:free',
    '/api/v1',
  ],
  Groq: [
    total(98_304),
    at('/openai/v1/models', [{ id: 'm', context_window: 98_304, max_completion_tokens: 1 }]),
    'm',
    '/openai/v1',
  ],
  'Together, without a wrapper': [total(50_000), { 'GET /v1/models': [{ id: 'm', context_length: 50_000 }] }],
  'the Hugging Face router, by the smallest live provider': [
    total(32_000),
    list({ id: 'a/b', providers }),
    'a/b:fastest',
  ],
  'the Hugging Face router with a provider': [total(64_000), list({ id: 'a/b', providers }), 'a/b:one'],
  Gemini: [input(900_000), at('/v1beta/models', [gemini], 'models'), 'm', '/v1beta/openai'],
  xAI: [
    input(250_000),
    {
      ...at(
        '/v1/language-models',
        [{ id: 'x-1', aliases: ['x-latest'], max_prompt_length: 250_000 }],
        'models',
      ),
      ...list({ id: 'x-1' }),
    },
    'x-latest',
  ],
  'GitHub Copilot': [
    total(400_000, 272_000),
    at('/models', [{ id: 'm', capabilities: { limits: copilotLimits } }]),
    'm',
    '',
  ],
  'GitHub Models': [
    input(111_000),
    { 'GET /catalog/models': [{ id: 'o/m', name: 'M', limits: { max_input_tokens: 111_000 } }] },
    'o/m',
    '/inference',
  ],
  'LiteLLM, the smallest of two deployments': [
    input(60_000),
    {
      ...at('/v1/model/info', [deployment('p/m', 90_000), deployment('q/m', 60_000)]),
      ...list({ id: 'm', owned_by: 'openai' }),
    },
  ],
  'LiteLLM by its other path, with the name behind the alias': [
    input(70_000),
    at('/model/info', [deployment('p/m', 70_000)]),
    'p/m',
  ],
  'LiteLLM that knows no limit': [null, at('/v1/model/info', [deployment('p/m', null)])],
  Cloudflare: [
    total(24_000),
    at(
      '/client/v4/accounts/abc/ai/models/search',
      [{ id: '0f1e', name: '@cf/x/m', properties: cloudflareProperties }],
      'result',
    ),
    '@cf/x/m',
    '/client/v4/accounts/abc/ai/v1',
  ],
  DeepInfra: [
    total(42_000),
    at('/v1/openai/models', [{ id: 'm', metadata: { context_length: 42_000 } }]),
    'm',
    '/v1/openai',
  ],
  Cerebras: [total(120_000), at('/public/v1/models', [{ id: 'm', limits: { max_context_length: 120_000 } }])],
}

test.each(Object.entries(kinds))(
  'the window of %s',
  async (_, [window, routes, model = 'm', base = '/v1']) => {
    expect(await found(routes, model, base)).toEqual({ window, troubles: [] })
  },
)

// Story: an Ollama behind a URL with `/v1` was never asked by its own chat, which stands at the root: what it had loaded was not known.
test.each(['/v1', ''])(
  'a chat at a server’s root asks the server whose API is at the upstream’s path: "%s"',
  async (base) => {
    const running = at('/api/ps', [{ name: 'm:latest', model: 'm:latest', context_length: 9216 }], 'models')
    await using ollamas = await discovery(running, { base })
    expect(await ollamas.tokens('m', { path: '/api/chat' })).toBe(9216)
  },
)
