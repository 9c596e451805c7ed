import { describe, expect, test } from 'vitest'
import { json } from '../../support/fake-upstream.ts'
import type { Routes } from './window-server.ts'
import { windowServer, windowStand } from './window-server.ts'

type Kind = {
  readonly kind: string
  readonly routes: Routes
  readonly model: string
  readonly window: {
    tokens: number
    kind?: 'total' | 'input'
    inputTokens?: number
  } | null
  /** The upstream's path; `/v1` unless it says otherwise. */
  readonly base?: string
}

const list = (...data: unknown[]) => ({ 'GET /v1/models': { object: 'list', data } })

const kinds: readonly Kind[] = [
  {
    kind: 'vLLM',
    routes: list({ id: 'org/coder', owned_by: 'vllm', max_model_len: 24_576 }),
    model: 'org/coder',
    window: { tokens: 24_576 },
  },
  {
    kind: 'vLLM with a LoRA adapter',
    routes: list(
      { id: 'base', owned_by: 'vllm', parent: null, max_model_len: 16_000 },
      { id: 'adapter', owned_by: 'vllm', parent: 'base' },
    ),
    model: 'adapter',
    window: { tokens: 16_000 },
  },
  {
    kind: 'SGLang whose memory holds less than the window',
    routes: {
      ...list({ id: 'm', owned_by: 'sglang', max_model_len: 32_768 }),
      'GET /get_server_info': { context_length: null, max_total_num_tokens: 20_000 },
    },
    model: 'm',
    window: { tokens: 20_000 },
  },
  {
    kind: 'SGLang whose memory holds more than the window',
    routes: {
      ...list({ id: 'm', owned_by: 'sglang', max_model_len: 32_768 }),
      'GET /server_info': { context_length: null, max_total_num_tokens: 400_000, max_req_input_len: 32_762 },
    },
    model: 'm',
    window: { tokens: 32_762 },
  },
  {
    kind: 'SGLang without its list',
    routes: { 'GET /server_info': { context_length: 10_000, max_total_num_tokens: 12_000 } },
    model: 'm',
    window: { tokens: 10_000 },
  },
  {
    kind: 'llama-server by its properties, per slot',
    routes: { 'GET /props': { default_generation_settings: { n_ctx: 6144 }, total_slots: 4 } },
    model: 'anything',
    window: { tokens: 6144 },
  },
  {
    kind: "llama-server's router with the model loaded",
    routes: {
      ...list(
        { id: 'a', object: 'model', status: { value: 'loaded', args: [] } },
        { id: 'b', object: 'model', status: { value: 'unloaded' } },
      ),
      'GET /props': { default_generation_settings: { n_ctx: 9216 } },
    },
    model: 'a',
    window: { tokens: 9216 },
  },
  {
    kind: "llama-server's router with the model not loaded",
    routes: {
      ...list({ id: 'b', object: 'model', status: { value: 'unloaded' }, meta: { n_ctx: 40_960 } }),
      'GET /props': json({ error: { message: 'model is not loaded' } }, 400),
    },
    model: 'b',
    window: null,
  },
  {
    kind: 'an older llama-server',
    routes: { 'GET /props': { default_generation_settings: { params: { n_ctx: 5120 } } } },
    model: 'anything',
    window: { tokens: 5120 },
  },
  {
    kind: 'llama-server by its list, under whatever name',
    routes: list({ id: 'file.gguf', owned_by: 'llamacpp', meta: { n_ctx: 12_288, n_ctx_train: 40_960 } }),
    model: 'gpt-4o',
    window: { tokens: 12_288 },
  },
  {
    kind: 'an older llama-server that states only the training ceiling',
    routes: list({ id: 'm', owned_by: 'llamacpp', meta: { n_ctx_train: 40_960 } }),
    model: 'm',
    window: null,
  },
  {
    kind: 'llama-cpp-python',
    routes: list({ id: 'm', object: 'model', owned_by: 'me', permissions: [] }),
    model: 'm',
    window: null,
  },
  {
    kind: 'Ollama with the model loaded',
    routes: {
      'GET /api/ps': { models: [{ name: 'small:latest', model: 'small:latest', context_length: 9216 }] },
      ...list({ id: 'small:latest', owned_by: 'library' }),
    },
    model: 'small',
    window: { tokens: 9216 },
  },
  {
    kind: 'Ollama before the model is loaded, with a setting',
    routes: {
      'GET /api/ps': { models: [] },
      'POST /api/show': {
        parameters: 'stop   "x"\nnum_ctx                        18000',
        model_info: { 'general.architecture': 'a', 'a.context_length': 65_536 },
      },
    },
    model: 'small',
    window: { tokens: 18_000 },
  },
  {
    kind: 'Ollama before the model is loaded, with a setting above its ceiling',
    routes: {
      'GET /api/ps': { models: [] },
      'POST /api/show': {
        parameters: 'num_ctx 99000',
        model_info: { 'general.architecture': 'a', 'a.context_length': 65_536 },
      },
    },
    model: 'small',
    window: { tokens: 65_536 },
  },
  {
    kind: 'Ollama before the model is loaded, without a setting',
    routes: {
      'GET /api/ps': { models: [] },
      'POST /api/show': { model_info: { 'general.architecture': 'a', 'a.context_length': 65_536 } },
    },
    model: 'small',
    window: { tokens: 4096 },
  },
  {
    kind: 'Ollama with a model of a smaller ceiling than what it would take',
    routes: {
      'GET /api/ps': { models: [] },
      'POST /api/show': { model_info: { 'general.architecture': 'a', 'a.context_length': 2048 } },
    },
    model: 'small',
    window: { tokens: 2048 },
  },
  {
    kind: 'Ollama with a model in the cloud',
    routes: {
      'GET /api/ps': { models: [] },
      'POST /api/show': {
        remote_host: 'https://cloud.example',
        remote_model: 'big',
        model_info: { 'general.architecture': 'a', 'a.context_length': 200_000 },
      },
    },
    model: 'big:cloud',
    window: { tokens: 200_000 },
  },
  {
    kind: 'LM Studio',
    routes: {
      'GET /api/v0/models': {
        data: [
          { id: 'm', state: 'loaded', max_context_length: 65_536, loaded_context_length: 7001 },
          { id: 'n', state: 'not-loaded', max_context_length: 65_536 },
        ],
      },
      ...list({ id: 'm' }, { id: 'n' }),
    },
    model: 'm',
    window: { tokens: 7001 },
  },
  {
    kind: 'LM Studio with the model not loaded',
    routes: {
      'GET /api/v0/models': { data: [{ id: 'n', state: 'not-loaded', max_context_length: 65_536 }] },
      'GET /api/v1/models': { models: [{ key: 'n', loaded_instances: [], max_context_length: 65_536 }] },
    },
    model: 'n',
    window: null,
  },
  {
    kind: "LM Studio's newer list",
    routes: {
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
    model: 'pub/m:2',
    window: { tokens: 6000 },
  },
  {
    kind: 'LM Studio by its own path',
    base: '/api/v0',
    routes: {
      'GET /api/v0/models': { data: [{ id: 'm', state: 'not-loaded', max_context_length: 65_536 }] },
    },
    model: 'm',
    window: null,
  },
  {
    kind: 'KoboldCpp',
    routes: {
      'GET /api/extra/true_max_context_length': { value: 10_240 },
      'GET /api/ps': { models: [{ name: 'koboldcpp', model: 'koboldcpp' }] },
      'POST /api/show': { parameters: '', model_info: {} },
    },
    model: 'whatever',
    window: { tokens: 10_240 },
  },
  {
    kind: 'TGI',
    routes: { 'GET /info': { max_input_tokens: 7000, max_total_tokens: 8000, router: 'x' } },
    model: 'tgi',
    window: { tokens: 8000, inputTokens: 7000 },
  },
  {
    kind: 'an older TGI',
    routes: { 'GET /info': { max_input_length: 3000 } },
    model: 'tgi',
    window: { tokens: 3000, kind: 'input' },
  },
  {
    kind: 'NIM',
    routes: list({ id: 'meta/m', owned_by: 'system', max_model_len: 65_000 }),
    model: 'meta/m',
    window: { tokens: 65_000 },
  },
  {
    kind: 'OpenRouter, by the provider that serves',
    base: '/api/v1',
    routes: {
      'GET /api/v1/models': {
        data: [{ id: 'a/b', context_length: 200_000, top_provider: { context_length: 131_000 } }],
      },
    },
    model: 'a/b:nitro',
    window: { tokens: 131_000 },
  },
  {
    kind: 'Groq',
    base: '/openai/v1',
    routes: {
      'GET /openai/v1/models': { data: [{ id: 'm', context_window: 98_304, max_completion_tokens: 1 }] },
    },
    model: 'm',
    window: { tokens: 98_304 },
  },
  {
    kind: 'Mistral',
    routes: list({ id: 'large-1', aliases: ['large-latest'], max_context_length: 180_000 }),
    model: 'large-latest',
    window: { tokens: 180_000 },
  },
  {
    kind: 'Together, without a wrapper',
    routes: { 'GET /v1/models': [{ id: 'a/b', context_length: 50_000 }] },
    model: 'a/b',
    window: { tokens: 50_000 },
  },
  {
    kind: 'Fireworks',
    base: '/inference/v1',
    routes: { 'GET /inference/v1/models': { data: [{ id: 'accounts/x/models/y', context_length: 77_000 }] } },
    model: 'accounts/x/models/y',
    window: { tokens: 77_000 },
  },
  {
    kind: 'the Hugging Face router, by the smallest live provider',
    routes: list({
      id: 'a/b',
      providers: [
        { provider: 'one', status: 'live', context_length: 64_000 },
        { provider: 'two', status: 'live', context_length: 32_000 },
        { provider: 'three', status: 'staging', context_length: 8000 },
        { provider: 'four', status: 'live' },
      ],
    }),
    model: 'a/b:fastest',
    window: { tokens: 32_000 },
  },
  {
    kind: 'the Hugging Face router with a provider',
    routes: list({
      id: 'a/b',
      providers: [
        { provider: 'one', status: 'live', context_length: 64_000 },
        { provider: 'two', status: 'live', context_length: 32_000 },
      ],
    }),
    model: 'a/b:one',
    window: { tokens: 64_000 },
  },
  {
    kind: 'Moonshot',
    routes: list({ id: 'k', owned_by: 'moonshot', context_length: 333_000 }),
    model: 'k',
    window: { tokens: 333_000 },
  },
  {
    kind: 'Anthropic',
    routes: list({ type: 'model', id: 'c', max_input_tokens: 444_000, max_tokens: 64_000 }),
    model: 'c',
    window: { tokens: 444_000, kind: 'input' },
  },
  {
    kind: 'Anthropic, asked without the date',
    routes: list({ type: 'model', id: 'claude-haiku-4-5-20251001', max_input_tokens: 200_000 }),
    model: 'claude-haiku-4-5',
    window: { tokens: 200_000, kind: 'input' },
  },
  {
    kind: 'a gateway without dates, asked with one',
    routes: list({ type: 'model', id: 'claude-haiku-4-5', max_input_tokens: 200_000 }),
    model: 'claude-haiku-4-5-20251001',
    window: { tokens: 200_000, kind: 'input' },
  },
  {
    kind: 'Anthropic, asked as Claude Code names the long window',
    routes: list({ type: 'model', id: 'claude-opus-4-6', max_input_tokens: 1_000_000 }),
    model: 'claude-opus-4-6[1m]',
    window: { tokens: 1_000_000, kind: 'input' },
  },
  {
    kind: 'Gemini',
    base: '/v1beta/openai',
    routes: {
      'GET /v1beta/models': {
        models: [{ name: 'models/g', displayName: 'G', inputTokenLimit: 900_000, outputTokenLimit: 8192 }],
      },
    },
    model: 'g',
    window: { tokens: 900_000, kind: 'input' },
  },
  {
    kind: 'xAI',
    routes: {
      'GET /v1/language-models': {
        models: [{ id: 'x-1', aliases: ['x-latest'], max_prompt_length: 250_000 }],
      },
      ...list({ id: 'x-1' }),
    },
    model: 'x-latest',
    window: { tokens: 250_000, kind: 'input' },
  },
  {
    kind: 'GitHub Copilot',
    base: '',
    routes: {
      'GET /models': {
        data: [
          {
            id: 'm',
            capabilities: { limits: { max_context_window_tokens: 400_000, max_prompt_tokens: 272_000 } },
          },
        ],
      },
    },
    model: 'm',
    window: { tokens: 400_000, inputTokens: 272_000 },
  },
  {
    kind: 'GitHub Models',
    base: '/inference',
    routes: { 'GET /catalog/models': [{ id: 'o/m', name: 'M', limits: { max_input_tokens: 111_000 } }] },
    model: 'o/m',
    window: { tokens: 111_000, kind: 'input' },
  },
  {
    kind: 'LiteLLM, the smallest of two deployments',
    routes: {
      'GET /v1/model/info': {
        data: [
          {
            model_name: 'm',
            litellm_params: { model: 'p/m' },
            model_info: { max_tokens: 9, max_input_tokens: 90_000 },
          },
          {
            model_name: 'm',
            litellm_params: { model: 'q/m' },
            model_info: { max_tokens: 9, max_input_tokens: 60_000 },
          },
        ],
      },
      ...list({ id: 'm', owned_by: 'openai' }),
    },
    model: 'm',
    window: { tokens: 60_000, kind: 'input' },
  },
  {
    kind: 'LiteLLM by its other path, with the name behind the alias',
    routes: {
      'GET /model/info': {
        data: [
          { model_name: 'm', litellm_params: { model: 'p/m' }, model_info: { max_input_tokens: 70_000 } },
        ],
      },
    },
    model: 'p/m',
    window: { tokens: 70_000, kind: 'input' },
  },
  {
    kind: 'LiteLLM that knows no limit',
    routes: {
      'GET /v1/model/info': {
        data: [{ model_name: 'm', model_info: { max_tokens: 4096, max_input_tokens: null } }],
      },
    },
    model: 'm',
    window: null,
  },
  {
    kind: "Vercel's gateway",
    routes: list({ id: 'o/m', context_window: 300_000 }, { id: 'o/n', context_window: 0 }),
    model: 'o/m',
    window: { tokens: 300_000 },
  },
  {
    kind: "Vercel's gateway where it does not know",
    routes: list({ id: 'o/m', context_window: 300_000 }, { id: 'o/n', context_window: 0 }),
    model: 'o/n',
    window: null,
  },
  {
    kind: 'Cloudflare',
    base: '/client/v4/accounts/abc/ai/v1',
    routes: {
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
    model: '@cf/x/m',
    window: { tokens: 24_000 },
  },
  {
    kind: 'Chutes',
    routes: list({ id: 'm', context_length: 100_000, max_model_len: 90_000 }),
    model: 'm',
    window: { tokens: 90_000 },
  },
  {
    kind: 'Venice',
    routes: list({ id: 'm', model_spec: { availableContextTokens: 65_536 } }),
    model: 'm',
    window: { tokens: 65_536 },
  },
  {
    kind: 'DeepInfra',
    base: '/v1/openai',
    routes: { 'GET /v1/openai/models': { data: [{ id: 'm', metadata: { context_length: 42_000 } }] } },
    model: 'm',
    window: { tokens: 42_000 },
  },
  {
    kind: 'SambaNova',
    routes: list({ id: 'M', context_length: 16_384, max_completion_tokens: 1 }),
    model: 'M',
    window: { tokens: 16_384 },
  },
  {
    kind: 'Cerebras',
    routes: { 'GET /public/v1/models': { data: [{ id: 'm', limits: { max_context_length: 120_000 } }] } },
    model: 'm',
    window: { tokens: 120_000 },
  },
  {
    kind: 'a server like OpenAI',
    routes: list({ id: 'm', object: 'model', created: 1, owned_by: 'openai' }),
    model: 'm',
    window: null,
  },
  {
    kind: 'a list that states total and input',
    routes: list({ id: 'm', context_length: 100_000, max_input_tokens: 80_000 }),
    model: 'm',
    window: { tokens: 100_000, inputTokens: 80_000 },
  },
  {
    kind: 'a list whose input is all of the total',
    routes: list({ id: 'm', context_length: 100_000, max_input_tokens: 100_000 }),
    model: 'm',
    window: { tokens: 100_000 },
  },
  {
    kind: 'figures as text',
    routes: list({ id: 'm', context_length: ' 30000 ' }),
    model: 'm',
    window: { tokens: 30_000 },
  },
]

describe('the window of each kind of server', () => {
  test.each(kinds)('$kind', async ({ routes, model, window, base = '/v1' }) => {
    await using server = await windowServer(routes)
    await using stand = windowStand(`${server.origin}${base}`)
    const found = await stand.ask(model)
    if (window === null) expect(found).toBeNull()
    else expect(found).toMatchObject({ kind: 'total', inputTokens: null, ...window })
    expect(stand.troubles).toEqual([])
  })
})
