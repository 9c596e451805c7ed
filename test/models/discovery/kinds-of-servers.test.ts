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

/** Servers that tell it in other ways, or by more than one row. */
const kinds: [string, Routes, Window | null, string?, string?][] = [
  [
    'vLLM with a LoRA adapter',
    list(
      { id: 'base', owned_by: 'vllm', max_model_len: 16_000 },
      { id: 'm', owned_by: 'vllm', parent: 'base' },
    ),
    total(16_000),
  ],
  [
    'SGLang whose memory holds less than the window',
    { ...sglang, 'GET /get_server_info': { context_length: null, max_total_num_tokens: 20_000 } },
    total(20_000),
  ],
  [
    'SGLang whose memory holds more than the window',
    { ...sglang, 'GET /server_info': { max_total_num_tokens: 400_000, max_req_input_len: 32_762 } },
    total(32_762),
  ],
  [
    'SGLang without its list',
    { 'GET /server_info': { context_length: 10_000, max_total_num_tokens: 12_000 } },
    total(10_000),
  ],
  [
    'llama-server by its properties, per slot',
    { 'GET /props': { ...props(6144), total_slots: 4 } },
    total(6144),
  ],
  [
    "llama-server's router with the model loaded",
    {
      ...list({ id: 'm', status: { value: 'loaded', args: [] } }, { id: 'n', status: { value: 'unloaded' } }),
      'GET /props': props(9216),
    },
    total(9216),
  ],
  [
    "llama-server's router with the model not loaded",
    {
      ...list({ id: 'm', status: { value: 'unloaded' }, meta: { n_ctx: 40_960 } }),
      'GET /props': json({ error: { message: 'model is not loaded' } }, 400),
    },
    null,
  ],
  [
    'an older llama-server by its properties',
    { 'GET /props': { default_generation_settings: { params: { n_ctx: 5120 } } } },
    total(5120),
  ],
  [
    'Ollama with the model loaded',
    {
      'GET /api/ps': { models: [{ name: 'm:latest', model: 'm:latest', context_length: 9216 }] },
      ...list({ id: 'm:latest', owned_by: 'library' }),
    },
    total(9216),
  ],
  [
    'Ollama with a setting',
    ollama({ parameters: 'stop   "x"\nnum_ctx         18000', model_info: architecture(65_536) }),
    total(18_000),
  ],
  [
    'Ollama with a setting above the model’s ceiling',
    ollama({ parameters: 'num_ctx 99000', model_info: architecture(65_536) }),
    total(65_536),
  ],
  ['Ollama without a setting', ollama({ model_info: architecture(65_536) }), total(4096)],
  ['Ollama with a model of a small ceiling', ollama({ model_info: architecture(2048) }), total(2048)],
  [
    'Ollama with a model in the cloud',
    ollama({
      remote_host: 'https://cloud.example',
      remote_model: 'big',
      model_info: architecture(200_000),
    }),
    total(200_000),
    'big:cloud',
  ],
  [
    'LM Studio',
    {
      'GET /api/v0/models': {
        data: [
          { id: 'm', state: 'loaded', max_context_length: 65_536, loaded_context_length: 7001 },
          { id: 'n', state: 'not-loaded', max_context_length: 65_536 },
        ],
      },
      ...list({ id: 'm' }, { id: 'n' }),
    },
    total(7001),
  ],
  [
    'LM Studio with the model not loaded',
    {
      'GET /api/v0/models': { data: [{ id: 'm', state: 'not-loaded', max_context_length: 65_536 }] },
      'GET /api/v1/models': { models: [{ key: 'm', loaded_instances: [], max_context_length: 65_536 }] },
    },
    null,
  ],
  [
    "LM Studio's newer list",
    {
      'GET /api/v1/models': {
        models: [
          {
            key: 'pub/m',
            max_context_length: 65_536,
            loaded_instances: [
              { id: 'pub/m', config: { context_length: 8000 } },
              { id: 'pub/m:2', config: { context_length: 6000 } },
            ],
          },
        ],
      },
    },
    total(6000),
    'pub/m:2',
  ],
  [
    'LM Studio by its own path',
    { 'GET /api/v0/models': { data: [{ id: 'm', state: 'not-loaded', max_context_length: 65_536 }] } },
    null,
    'm',
    '/api/v0',
  ],
  [
    'KoboldCpp',
    {
      'GET /api/extra/true_max_context_length': { value: 10_240 },
      'GET /api/ps': { models: [{ name: 'koboldcpp', model: 'koboldcpp' }] },
      'POST /api/show': { parameters: '', model_info: {} },
    },
    total(10_240),
  ],
  [
    'TGI',
    { 'GET /info': { max_input_tokens: 7000, max_total_tokens: 8000, router: 'x' } },
    total(8000, 7000),
  ],
  ['an older TGI', { 'GET /info': { max_input_length: 3000 } }, input(3000)],
  [
    'OpenRouter, by the provider that serves',
    {
      'GET /api/v1/models': {
        data: [{ id: 'a/b', context_length: 200_000, top_provider: { context_length: 131_000 } }],
      },
    },
    total(131_000),
    'a/b:nitro',
    '/api/v1',
  ],
  [
    'Groq',
    { 'GET /openai/v1/models': { data: [{ id: 'm', context_window: 98_304, max_completion_tokens: 1 }] } },
    total(98_304),
    'm',
    '/openai/v1',
  ],
  ['Together, without a wrapper', { 'GET /v1/models': [{ id: 'm', context_length: 50_000 }] }, total(50_000)],
  [
    'the Hugging Face router, by the smallest live provider',
    list({ id: 'a/b', providers }),
    total(32_000),
    'a/b:fastest',
  ],
  ['the Hugging Face router with a provider', list({ id: 'a/b', providers }), total(64_000), 'a/b:one'],
  [
    'Gemini',
    {
      'GET /v1beta/models': {
        models: [{ name: 'models/m', displayName: 'G', inputTokenLimit: 900_000, outputTokenLimit: 8192 }],
      },
    },
    input(900_000),
    'm',
    '/v1beta/openai',
  ],
  [
    'xAI',
    {
      'GET /v1/language-models': {
        models: [{ id: 'x-1', aliases: ['x-latest'], max_prompt_length: 250_000 }],
      },
      ...list({ id: 'x-1' }),
    },
    input(250_000),
    'x-latest',
  ],
  [
    'GitHub Copilot',
    {
      'GET /models': {
        data: [
          {
            id: 'm',
            capabilities: { limits: { max_context_window_tokens: 400_000, max_prompt_tokens: 272_000 } },
          },
        ],
      },
    },
    total(400_000, 272_000),
    'm',
    '',
  ],
  [
    'GitHub Models',
    { 'GET /catalog/models': [{ id: 'o/m', name: 'M', limits: { max_input_tokens: 111_000 } }] },
    input(111_000),
    'o/m',
    '/inference',
  ],
  [
    'LiteLLM, the smallest of two deployments',
    {
      'GET /v1/model/info': { data: [deployment('p/m', 90_000), deployment('q/m', 60_000)] },
      ...list({ id: 'm', owned_by: 'openai' }),
    },
    input(60_000),
  ],
  [
    'LiteLLM by its other path, with the name behind the alias',
    { 'GET /model/info': { data: [deployment('p/m', 70_000)] } },
    input(70_000),
    'p/m',
  ],
  ['LiteLLM that knows no limit', { 'GET /v1/model/info': { data: [deployment('p/m', null)] } }, null],
  [
    'Cloudflare',
    {
      'GET /client/v4/accounts/abc/ai/models/search': {
        result: [
          {
            id: '0f1e',
            name: '@cf/x/m',
            properties: [
              { property_id: 'price', value: [] },
              { property_id: 'context_window', value: '24000' },
            ],
          },
        ],
      },
    },
    total(24_000),
    '@cf/x/m',
    '/client/v4/accounts/abc/ai/v1',
  ],
  [
    'DeepInfra',
    { 'GET /v1/openai/models': { data: [{ id: 'm', metadata: { context_length: 42_000 } }] } },
    total(42_000),
    'm',
    '/v1/openai',
  ],
  [
    'Cerebras',
    { 'GET /public/v1/models': { data: [{ id: 'm', limits: { max_context_length: 120_000 } }] } },
    total(120_000),
  ],
]

test.each(kinds)('the window of %s', async (_, routes, window, model = 'm', base = '/v1') => {
  expect(await found(routes, model, base)).toEqual({ window, troubles: [] })
})
