import { describe, expect, test } from 'vitest'
import { listedName, modelSpellings } from '../../../src/models/table/model-spellings.ts'
import {
  familyOf,
  figuresIn,
  isListedAt,
  openWeights,
  tableWindow,
  vendorModels,
} from '../../../src/models/table/window-table.ts'
import windowFigures from '../../../src/models/table/window-figures.json' with { type: 'json' }
import { times } from '../../support/times.ts'

const total = (tokens: number) => ({ tokens, kind: 'total' })
const input = (tokens: number) => ({ tokens, kind: 'input' })

/** Names with blanks between them. */
const named = (names: string): readonly string[] => names.split(/\s+/)

describe('the host’s own figure goes before that of the name, and the name before its family', () => {
  test.each([
    ['MiniMax-M3', 'api.minimax.io', total(1_000_000)],
    ['accounts/fireworks/models/minimax-m3', 'api.fireworks.ai', total(512_000)],
    ['minimax-m3', 'a-gateway.example', total(1_000_000)],
    ['minimax-m3-of-ours', 'a-gateway.example', total(512_000)],
    ['openai/gpt-oss-120b', 'inference.baseten.co', total(128_072)],
    ['gpt-oss-120b', null, total(131_072)],
    ['@cf/meta/llama-3.3-70b-instruct-fp8-fast', 'api.cloudflare.com', total(24_000)],
    ['zai-org/GLM-5.2', 'router.huggingface.co', total(262_144)],
    ['zai-org/GLM-5.2:together', 'router.huggingface.co', total(262_144)],
    ['glm-5.2', null, total(1_000_000)],
    ['gpt-5.5', 'gateway.ai.cloudflare.com', input(872_000)],
    ['gpt-5', 'gateway.ai.cloudflare.com', total(128_000)],
    ['claude-sonnet-5', 'api.githubcopilot.com', input(872_000)],
    // The host is listed, this model of it is not.
    ['gemini-2.5-pro', 'api.groq.com', input(1_048_576)],
    ['llama-3.1-405b-preview', 'api.groq.com', total(131_072)],
  ])('%s at %s', (model, host, window) => {
    expect(tableWindow(model, host)).toEqual(window)
  })

  test('what a host calls by a name without a version means nothing elsewhere', () => {
    expect(tableWindow('openrouter/auto', 'openrouter.ai')).toEqual(total(2_000_000))
    expect(tableWindow('auto', 'a-gateway.example')).toBeNull()
    expect(tableWindow('auto', null)).toBeNull()
  })
})

/** What OpenAI, Azure, Anthropic, Bedrock, Vertex, Google, routers and people call models, deployments, files and tags. */
describe('a model is found however its name is written', () => {
  test.each([
    [
      total(128_000),
      `ft:gpt-4o-mini-2024-07-18:org::id azure/gpt-4o-eu-west my_gpt_4o gpt-4-1106-preview
       us.deepseek.r1-v1:0 Llama-3.3-70B-Instruct-Q4_K_M-00001-of-00002.gguf mistral-large-2411
       deepseek-ai/DeepSeek-R1-Distill-Llama-70B chatgpt-4o-latest gpt-4-turbo-2024-04-09 gpt4o
       gpt4o-mini-eu gpt-4-o GPT_4O gpt4-turbo o1-preview-2024-09-12
       deepseek/deepseek-chat-v3-0324:free deepseek-r1:latest Yarn-Mistral-7b-128k devstral:24b
       phi-3-mini-128k-instruct`,
    ],
    [input(272_000), 'gpt-5-2025-08-07 gpt5-mini'],
    [input(922_000), 'openai/gpt-5.4:extended'],
    [total(16_385), 'gpt-35-turbo gpt-35-turbo-0125'],
    [total(1_047_576), 'GPT-4.1 gpt-41-nano gpt-4.1-2025-04-14 gpt-4.1-mini-2025-04-14:ft-acme gpt41'],
    [
      total(8192),
      `gpt-4-0613 llama3:latest meta-llama/Meta-Llama-3-70B-Instruct gpt-4-0314:extended gpt4
       my-gpt4-deploy meta.llama3-8b-instruct-v1:0 gemma-2-9b-it codegemma:7b
       mistral-7b-instruct-v0.1 chatglm3-6b`,
    ],
    [
      total(32_768),
      `gpt-4-32k Mistral-7B-Instruct-v0.3.Q5_0.gguf mixtral:8x7b mistral.mistral-large-2402-v1:0
       Qwen/Qwen2.5-72B-Instruct-AWQ lmstudio-community/Qwen2.5-Coder-32B-Instruct-MLX-4bit
       Llama-2-7B-32K-Instruct nous-hermes-2-mixtral-8x7b-dpo mistral-7b-instruct-v0.3
       mistral-small:24b-instruct-2501-q4_K_M codestral-2405 phi-4-reasoning-plus doubao-pro-32k
       grok-2-vision-1212`,
    ],
    [
      total(200_000),
      `anthropic/claude-sonnet-4.5 claude-sonnet-4-5-20250929 claude-sonnet-4-5@20250929
       claude-3-5-sonnet-v2@20241022 claude-3-7-sonnet-latest
       us.anthropic.claude-sonnet-4-5-20250929-v1:0 anthropic.claude-3-haiku-20240307-v1:0
       arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0
       o3-pro-2025-06-10 azure-o3-mini claude-2.1 anthropic.claude-v2:1 claude-3-haiku
       claude35-sonnet claude-4-sonnet-20250514 claude-4.5-sonnet claude-opus-4-1@20250805
       anthropic/claude-3.7-sonnet:thinking yi-34b-200k`,
    ],
    [
      total(1_000_000),
      `claude-opus-4-6@default global.anthropic.claude-sonnet-4-6
       bedrock/eu.anthropic.claude-opus-4-7 accounts/fireworks/models/glm-5p3
       Qwen2.5-14B-Instruct-1M glm-4-9b-chat-1m`,
    ],
    [total(300_000), 'us.amazon.nova-pro-v1:0'],
    [
      total(131_072),
      `openai.gpt-oss-20b-1:0 accounts/fireworks/models/llama-v3p1-70b-instruct gpt-oss:20b
       gpt-oss-20b-MXFP4.gguf llama3.1:8b llama3.2:3b-instruct-q4_K_M
       Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf grok-3-mini medgemma:27b gemma-3-12b-it-qat-q4_0-gguf
       qwq:32b deepseek-v3.1:671b-cloud neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w8a8
       mlx-community/Llama-3.2-3B-Instruct-4bit Hermes-3-Llama-3.1-8B moonshot-v1-auto
       granite3.3:8b`,
    ],
    [
      input(1_048_576),
      `google/gemini-2.5-flash:free gemini-2.5-pro-preview-05-06
       publishers/google/models/gemini-3.5-flash gemini-2.0-flash-001`,
    ],
    [total(1_048_576), 'zai-glm-5-2'],
    [
      total(262_144),
      `qwen3-coder:30b Qwen3-Coder-30B-A3B-Instruct-UD-Q4_K_XL.gguf
       Qwen/Qwen3-30B-A3B-Instruct-2507-FP8 kimi-k2-0905-preview`,
    ],
    [total(40_960), 'hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M qwen3:32b-q8_0'],
    [
      total(4096),
      'gpt-35-turbo-0613 Llama-2-7b-chat-hf vicuna-13b-v1.5 phi3:mini-4k granite-3.0-8b-instruct',
    ],
    [total(100_000), 'claude-2.0 claude-instant-1.2'],
    [total(48_000), 'anthropic.claude-3-haiku-20240307-v1:0:48k'],
    [total(24_000), 'amazon.nova-lite-v1:0:24k'],
    [input(30_720), 'gemini-1.0-pro'],
    [input(32_768), 'gemini-live-2.5-flash-preview'],
    [total(16_384), 'deepseek-coder:6.7b codellama-34b-instruct'],
    [total(262_000), 'Llama-3-8B-Instruct-262k'],
    [total(2048), 'TinyLlama-1.1B-Chat-v1.0 microsoft/phi-2'],
    [total(65_536), 'mixtral:8x22b'],
    [total(524_288), 'seed-oss-36b'],
  ] as const)('a window of %j', (window, names) => {
    for (const name of named(names)) expect(tableWindow(name, null), `of ${name}`).toEqual(window)
  })

  test('what only looks like a quantisation stays in the name', () => {
    expect(modelSpellings('gpt-4-1')).toEqual(['gpt-4-1'])
    expect(modelSpellings('gemma-3n-e4b-it-xl')).toEqual(['gemma-3n-e4b-it-xl'])
    expect(modelSpellings('q4_K_M')).toEqual(['q4-k-m'])
  })

  test('versions with a dot, a dash and a p are one name', () => {
    expect(['GLM-5.2', 'glm-5-2', 'accounts/x/models/glm-5p2', 'glm_5.2'].map(listedName)).toEqual(
      times(4, () => 'glm-5-2'),
    )
  })
})

describe('what nobody listed', () => {
  test.each(['a-model-nobody-knows', 'chat', 'default', '', '/', ':', '@', '..', 'gguf', 'free', '*', '@ *'])(
    'nothing is said of “%s”',
    (model) => {
      expect(tableWindow(model, null)).toBeNull()
      expect(tableWindow(model, 'api.openai.com')).toBeNull()
    },
  )

  test('a client’s endless name is no name, and no pattern is tried on it', () => {
    expect(tableWindow(`gemini${'-q4_k'.repeat(200_000)}`, 'openrouter.ai')).toBeNull()
    expect(tableWindow('qwen3'.repeat(200_000), null)).toBeNull()
  })
})

// A host was listed or not, whatever was asked of it: nobody waited for GitHub's word on gpt-4.1, which its rows lack, and a
// prompt of a million tokens was believed to fit, because it does at OpenAI.
describe('whether a model is listed is asked of its host’s own rows', () => {
  test.each([
    ['gpt-4o', 'api.openai.com API.OpenAI.com'],
    ['gpt-4o-2024-11-20', 'us.api.openai.com'],
    ['ft:gpt-4o-mini-2024-07-18:org::id', 'api.openai.com'],
    ['gpt-5', 'my-resource.openai.azure.com my-resource.services.ai.azure.com'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock-runtime.us-west-2.amazonaws.com'],
    ['anthropic.claude-opus-4-6-v1', 'bedrock-mantle.eu-west-1.api.aws'],
    ['google/gemini-2.5-pro', 'europe-west4-aiplatform.googleapis.com aiplatform.googleapis.com'],
    ['openrouter/auto', 'openrouter.ai'],
    ['qwen/qwen3-coder:free', 'openrouter.ai'],
    ['zai-org/GLM-5.2:together', 'router.huggingface.co'],
    ['claude-sonnet-5', 'api.business.githubcopilot.com'],
    ['qwen3.6-plus', 'dashscope.aliyuncs.com ws-1.ap-southeast-1.maas.aliyuncs.com'],
    ['MiniMax-M3', 'api.minimaxi.com'],
  ])('%s is at %s', (model, hosts) => {
    for (const host of named(hosts)) expect(isListedAt(model, host), `of ${host}`).toBe(true)
  })

  test.each([
    ['gpt-4.1', 'api.githubcopilot.com'],
    ['@cf/meta/llama-3.1-8b-instruct', 'api.cloudflare.com'],
    ['gemini-2.5-pro', 'api.groq.com'],
    ['a-model-nobody-knows', 'api.openai.com'],
    ['', 'api.openai.com'],
    [
      'gpt-4o',
      `localhost 127.0.0.1 [::1] 192.168.1.5 host.docker.internal llm.example.com
       openai.azure.com.example.com .openai.azure.com api.openai.com.example.com *`,
    ],
    ['gpt-oss:20b', 'ollama'],
    ['claude-opus-4-6', 'bedrock-runtime..amazonaws.com'],
    [`gpt-4o${'-q4'.repeat(100_000)}`, 'api.openai.com'],
  ])('%.40s is not at %s', (model, hosts) => {
    for (const host of named(hosts)) expect(isListedAt(model, host), `of ${host}`).toBe(false)
    expect(isListedAt(model, '')).toBe(false)
  })
})

test('every figure stands under a name as it is looked up and is a window that a model may have', () => {
  const sections: readonly Readonly<Record<string, string>>[] = [
    windowFigures.names,
    ...Object.values(windowFigures.hosts),
  ]
  const rows = sections.flatMap((section) => [...figuresIn(section)])
  const isRow = ([name, { tokens }]: (typeof rows)[number]): boolean =>
    listedName(name) === name && tokens >= 512 && tokens <= 20_000_000
  expect(rows.filter((row) => !isRow(row))).toEqual([])
  expect(rows.length).toBeGreaterThan(1000)
})

describe('the families', () => {
  test.each([...openWeights, ...vendorModels])('the row of $sample is the one that its name finds', (row) => {
    expect(familyOf(row.sample.toLowerCase().replaceAll('_', '-'))).toBe(row)
  })
})

// A fine-tune's name says of whom it was made and by whom it was taught. The teacher was taken for the model: an 8B Qwen on
// somebody's desk was believed to take a million tokens of prompt, like Gemini.
describe('what was taught by another model is not that model', () => {
  test.each([
    [
      total(40_960),
      `TeichAI/Qwen3-14B-Claude-Sonnet-4.5-Reasoning-Distill-GGUF Qwen3-8B-Gemini-2.5-Flash-Distill
       Qwen3-8B-DeepSeek-v3.2-Speciale-Distill`,
    ],
    [total(262_144), 'Qwen3-4B-Thinking-2507-Gemini-2.5-Flash-Distill-GGUF:Q4_K_M'],
    [
      total(131_072),
      `gpt-oss-20b-claude-4.5-sonnet-distill gpt-oss-20b-glm-4.6-distill
       reedmayhew/claude-3.7-sonnet-reasoning-gemma3-12B Skywork-o1-Open-Llama-3.1-8B`,
    ],
    [total(32_768), 'Mistral-7B-claude-chat marco-o1:7b'],
    [total(8192), 'Llama-3-8B-GPT-4o-RU1.0 Meta-Llama-3-8B-Instruct-GPT-4-distill'],
    [total(4096), 'gpt4-x-vicuna-13b'],
    [total(200_000), 'GLM-4.7-Flash-Claude-Opus-4.5-High-Reasoning-Distill-GGUF'],
    [total(128_000), 'DeepSeek-R1-Distill-Qwen-1.5B DeepSeek-R1-0528-Qwen3-8B-GGUF'],
    [total(16_385), 'ft:gpt-3.5-turbo-0125:acme:llama-helper:id'],
    [
      total(1_047_576),
      `ft:gpt-4.1-mini-2025-04-14:acme:claude-distill:id
       ft:gpt-4.1-mini-2025-04-14:acme:support-8k:id`,
    ],
    [input(1_048_576), 'gemini-1.5-flash-8b'],
  ] as const)('a window of %j', (window, names) => {
    for (const name of named(names)) expect(tableWindow(name, 'localhost'), `of ${name}`).toEqual(window)
  })

  test.each([
    'HuatuoGPT-o1-7B',
    'Claude-4.5-Opus-Distill-GGUF',
    'gemini-2.5-flash-distilled-3b-mlx',
    'prod-o3',
  ])('of %s, which names no family, nothing is said', (model) => {
    expect(tableWindow(model, 'localhost')).toBeNull()
  })
})
