import { describe, expect, test } from 'vitest'
import { listedName, modelSpellings } from '../../../src/models/table/model-spellings.ts'
import { familyOf, openWeights, vendorModels } from '../../../src/models/table/window-families.ts'
import windowFigures from '../../../src/models/table/window-figures.json' with { type: 'json' }
import { isListedAt, tableWindow } from '../../../src/models/table/window-table.ts'

const total = (tokens: number) => ({ tokens, kind: 'total' })
const input = (tokens: number) => ({ tokens, kind: 'input' })

describe('what makers documented of their models in November 2026', () => {
  test.each([
    ['api.openai.com', 'gpt-4', total(8192)],
    ['api.openai.com', 'gpt-4o', total(128_000)],
    ['api.openai.com', 'gpt-4o-2024-11-20', total(128_000)],
    ['api.openai.com', 'gpt-4.1', total(1_047_576)],
    ['api.openai.com', 'o3', total(200_000)],
    ['api.openai.com', 'o4-mini', total(200_000)],
    ['api.openai.com', 'gpt-5', input(272_000)],
    ['api.openai.com', 'gpt-5-pro', input(272_000)],
    ['api.openai.com', 'gpt-5-chat-latest', total(128_000)],
    ['api.openai.com', 'gpt-5.4-mini', input(272_000)],
    ['api.openai.com', 'gpt-5.4', input(922_000)],
    ['api.openai.com', 'gpt-6.1-sol', input(922_000)],
    ['eu.api.openai.com', 'gpt-5', input(272_000)],
    ['api.anthropic.com', 'claude-haiku-4-5', total(200_000)],
    ['api.anthropic.com', 'claude-opus-4-5-20251101', total(200_000)],
    ['api.anthropic.com', 'claude-sonnet-4-6', total(1_000_000)],
    ['api.anthropic.com', 'claude-opus-5-5', total(1_000_000)],
    ['generativelanguage.googleapis.com', 'gemini-2.5-pro', input(1_048_576)],
    ['generativelanguage.googleapis.com', 'models/gemini-2.5-flash', input(1_048_576)],
    ['api.x.ai', 'grok-4.5', input(500_000)],
    ['api.deepseek.com', 'deepseek-flash', total(1_000_000)],
    ['api.deepseek.com', 'deepseek-chat', total(1_000_000)],
    ['api.moonshot.ai', 'kimi-k2.6', total(262_144)],
    ['api.moonshot.cn', 'kimi-k3', total(1_048_576)],
    ['api.z.ai', 'glm-4.7', total(204_800)],
    ['api.z.ai', 'GLM-5.2', total(1_000_000)],
    ['api.minimax.io', 'MiniMax-M2.7', total(204_800)],
    ['api.minimaxi.com', 'MiniMax-M3', total(1_000_000)],
    ['dashscope-intl.aliyuncs.com', 'qwen3.6-plus', input(983_616)],
    ['api.mistral.ai', 'mistral-large-2512', total(262_144)],
    ['api.mistral.ai', 'mistral-large-4', total(1_048_576)],
    ['api.groq.com', 'llama-3.3-70b-versatile', total(131_072)],
    ['api.groq.com', 'openai/gpt-oss-120b', total(131_072)],
    ['api.cerebras.ai', 'gpt-oss-120b', total(131_072)],
  ])('%s: %s', (host, model, window) => {
    expect(tableWindow(model, host)).toEqual(window)
  })
})

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

describe('a model is found however its name is written', () => {
  test.each([
    ['ft:gpt-4o-mini-2024-07-18:org::id', total(128_000)],
    ['gpt-5-2025-08-07', input(272_000)],
    ['openai/gpt-5.4:extended', input(922_000)],
    ['azure/gpt-4o-eu-west', total(128_000)],
    ['my_gpt_4o', total(128_000)],
    ['gpt-35-turbo', total(16_385)],
    ['GPT-4.1', total(1_047_576)],
    ['gpt-41-nano', total(1_047_576)],
    ['gpt-4-1106-preview', total(128_000)],
    ['gpt-4-0613', total(8192)],
    ['gpt-4-32k', total(32_768)],
    ['anthropic/claude-sonnet-4.5', total(200_000)],
    ['claude-sonnet-4-5-20250929', total(200_000)],
    ['claude-sonnet-4-5@20250929', total(200_000)],
    ['claude-3-5-sonnet-v2@20241022', total(200_000)],
    ['claude-3-7-sonnet-latest', total(200_000)],
    ['claude-opus-4-6@default', total(1_000_000)],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', total(200_000)],
    ['anthropic.claude-3-haiku-20240307-v1:0', total(200_000)],
    ['global.anthropic.claude-sonnet-4-6', total(1_000_000)],
    ['bedrock/eu.anthropic.claude-opus-4-7', total(1_000_000)],
    [
      'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0',
      total(200_000),
    ],
    ['us.amazon.nova-pro-v1:0', total(300_000)],
    ['us.deepseek.r1-v1:0', total(128_000)],
    ['openai.gpt-oss-20b-1:0', total(131_072)],
    ['google/gemini-2.5-flash:free', input(1_048_576)],
    ['gemini-2.5-pro-preview-05-06', input(1_048_576)],
    ['publishers/google/models/gemini-3.5-flash', input(1_048_576)],
    ['accounts/fireworks/models/llama-v3p1-70b-instruct', total(131_072)],
    ['accounts/fireworks/models/glm-5p3', total(1_000_000)],
    ['zai-glm-5-2', total(1_048_576)],
    ['gpt-oss:20b', total(131_072)],
    ['gpt-oss-20b-MXFP4.gguf', total(131_072)],
    ['qwen3-coder:30b', total(262_144)],
    ['Qwen3-Coder-30B-A3B-Instruct-UD-Q4_K_XL.gguf', total(262_144)],
    ['Qwen/Qwen3-30B-A3B-Instruct-2507-FP8', total(262_144)],
    ['hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M', total(40_960)],
    ['llama3.1:8b', total(131_072)],
    ['llama3.2:3b-instruct-q4_K_M', total(131_072)],
    ['llama3:latest', total(8192)],
    ['Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf', total(131_072)],
    ['Llama-3.3-70B-Instruct-Q4_K_M-00001-of-00002.gguf', total(128_000)],
    ['meta-llama/Meta-Llama-3-70B-Instruct', total(8192)],
    ['Mistral-7B-Instruct-v0.3.Q5_0.gguf', total(32_768)],
    ['mixtral:8x7b', total(32_768)],
    ['mistral-large-2411', total(128_000)],
    ['kimi-k2-0905-preview', total(262_144)],
    ['deepseek-ai/DeepSeek-R1-Distill-Llama-70B', total(128_000)],
    ['grok-3-mini', total(131_072)],
  ])('%s', (model, window) => {
    expect(tableWindow(model, null)).toEqual(window)
  })

  test('what only looks like a quantisation stays in the name', () => {
    expect(modelSpellings('gpt-4-1')).toEqual(['gpt-4-1'])
    expect(modelSpellings('gemma-3n-e4b-it-xl')).toEqual(['gemma-3n-e4b-it-xl'])
    expect(modelSpellings('q4_K_M')).toEqual(['q4-k-m'])
  })

  test('versions with a dot, a dash and a p are one name', () => {
    expect(['GLM-5.2', 'glm-5-2', 'accounts/x/models/glm-5p2', 'glm_5.2'].map(listedName)).toEqual(
      Array.from({ length: 4 }, () => 'glm-5-2'),
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
    ['gpt-4o', 'api.openai.com'],
    ['gpt-4o', 'API.OpenAI.com'],
    ['gpt-4o-2024-11-20', 'us.api.openai.com'],
    ['ft:gpt-4o-mini-2024-07-18:org::id', 'api.openai.com'],
    ['gpt-5', 'my-resource.openai.azure.com'],
    ['gpt-5', 'my-resource.services.ai.azure.com'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock-runtime.us-west-2.amazonaws.com'],
    ['anthropic.claude-opus-4-6-v1', 'bedrock-mantle.eu-west-1.api.aws'],
    ['google/gemini-2.5-pro', 'europe-west4-aiplatform.googleapis.com'],
    ['google/gemini-2.5-pro', 'aiplatform.googleapis.com'],
    ['openrouter/auto', 'openrouter.ai'],
    ['qwen/qwen3-coder:free', 'openrouter.ai'],
    ['zai-org/GLM-5.2:together', 'router.huggingface.co'],
    ['claude-sonnet-5', 'api.business.githubcopilot.com'],
    ['qwen3.6-plus', 'dashscope.aliyuncs.com'],
    ['qwen3.6-plus', 'ws-1.ap-southeast-1.maas.aliyuncs.com'],
    ['MiniMax-M3', 'api.minimaxi.com'],
  ])('%s is at %s', (model, host) => {
    expect(isListedAt(model, host)).toBe(true)
  })

  test.each([
    ['gpt-4.1', 'api.githubcopilot.com'],
    ['@cf/meta/llama-3.1-8b-instruct', 'api.cloudflare.com'],
    ['gemini-2.5-pro', 'api.groq.com'],
    ['a-model-nobody-knows', 'api.openai.com'],
    ['', 'api.openai.com'],
    [`gpt-4o${'-q4'.repeat(100_000)}`, 'api.openai.com'],
    ['gpt-4o', 'localhost'],
    ['gpt-4o', '127.0.0.1'],
    ['gpt-4o', '[::1]'],
    ['gpt-4o', '192.168.1.5'],
    ['gpt-4o', 'host.docker.internal'],
    ['gpt-oss:20b', 'ollama'],
    ['gpt-4o', 'llm.example.com'],
    ['gpt-4o', 'openai.azure.com.example.com'],
    ['gpt-4o', '.openai.azure.com'],
    ['gpt-4o', 'api.openai.com.example.com'],
    ['claude-opus-4-6', 'bedrock-runtime..amazonaws.com'],
    ['gpt-4o', ''],
    ['gpt-4o', '*'],
  ])('%s is not at “%s”', (model, host) => {
    expect(isListedAt(model, host)).toBe(false)
  })
})

test('every figure stands under a name as it is looked up and is a window that a model may have', () => {
  const sections: readonly Readonly<Record<string, number | { readonly input: number }>>[] = [
    windowFigures.names,
    ...Object.values(windowFigures.hosts),
  ]
  const rows = sections.flatMap((figures) => Object.entries(figures))
  const isRow = ([name, figure]: (typeof rows)[number]): boolean => {
    const tokens = typeof figure === 'number' ? figure : figure.input
    return listedName(name) === name && tokens >= 512 && tokens <= 20_000_000
  }
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
    ['TeichAI/Qwen3-14B-Claude-Sonnet-4.5-Reasoning-Distill-GGUF', total(40_960)],
    ['Qwen3-8B-Gemini-2.5-Flash-Distill', total(40_960)],
    ['Qwen3-4B-Thinking-2507-Gemini-2.5-Flash-Distill-GGUF:Q4_K_M', total(262_144)],
    ['Qwen3-8B-DeepSeek-v3.2-Speciale-Distill', total(40_960)],
    ['gpt-oss-20b-claude-4.5-sonnet-distill', total(131_072)],
    ['gpt-oss-20b-glm-4.6-distill', total(131_072)],
    ['Mistral-7B-claude-chat', total(32_768)],
    ['Llama-3-8B-GPT-4o-RU1.0', total(8192)],
    ['Meta-Llama-3-8B-Instruct-GPT-4-distill', total(8192)],
    ['reedmayhew/claude-3.7-sonnet-reasoning-gemma3-12B', total(131_072)],
    ['gpt4-x-vicuna-13b', total(4096)],
    ['GLM-4.7-Flash-Claude-Opus-4.5-High-Reasoning-Distill-GGUF', total(200_000)],
    ['DeepSeek-R1-Distill-Qwen-1.5B', total(128_000)],
    ['DeepSeek-R1-0528-Qwen3-8B-GGUF', total(128_000)],
    ['marco-o1:7b', total(32_768)],
    ['Skywork-o1-Open-Llama-3.1-8B', total(131_072)],
    ['ft:gpt-3.5-turbo-0125:acme:llama-helper:id', total(16_385)],
    ['ft:gpt-4.1-mini-2025-04-14:acme:claude-distill:id', total(1_047_576)],
    ['ft:gpt-4.1-mini-2025-04-14:acme:support-8k:id', total(1_047_576)],
    ['gemini-1.5-flash-8b', input(1_048_576)],
  ])('%s', (model, window) => {
    expect(tableWindow(model, 'localhost')).toEqual(window)
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

describe('the names that people use', () => {
  test.each([
    // OpenAI, Azure and whatever deployments are called.
    ['chatgpt-4o-latest', total(128_000)],
    ['gpt-4.1-2025-04-14', total(1_047_576)],
    ['gpt-4.1-mini-2025-04-14:ft-acme', total(1_047_576)],
    ['gpt-4-turbo-2024-04-09', total(128_000)],
    ['gpt-4-0314:extended', total(8192)],
    ['gpt-35-turbo-0613', total(4096)],
    ['gpt-35-turbo-0125', total(16_385)],
    ['gpt4', total(8192)],
    ['my-gpt4-deploy', total(8192)],
    ['gpt4o', total(128_000)],
    ['gpt4o-mini-eu', total(128_000)],
    ['gpt-4-o', total(128_000)],
    ['GPT_4O', total(128_000)],
    ['gpt4-turbo', total(128_000)],
    ['gpt41', total(1_047_576)],
    ['gpt5-mini', input(272_000)],
    ['o3-pro-2025-06-10', total(200_000)],
    ['o1-preview-2024-09-12', total(128_000)],
    ['azure-o3-mini', total(200_000)],

    // Anthropic, on Bedrock and Vertex too.
    ['claude-2.0', total(100_000)],
    ['claude-2.1', total(200_000)],
    ['claude-instant-1.2', total(100_000)],
    ['anthropic.claude-v2:1', total(200_000)],
    ['claude-3-haiku', total(200_000)],
    ['claude35-sonnet', total(200_000)],
    ['claude-4-sonnet-20250514', total(200_000)],
    ['claude-4.5-sonnet', total(200_000)],
    ['claude-opus-4-1@20250805', total(200_000)],
    ['anthropic/claude-3.7-sonnet:thinking', total(200_000)],
    ['anthropic.claude-3-haiku-20240307-v1:0:48k', total(48_000)],
    ['amazon.nova-lite-v1:0:24k', total(24_000)],
    ['mistral.mistral-large-2402-v1:0', total(32_768)],
    ['meta.llama3-8b-instruct-v1:0', total(8192)],

    // Google.
    ['gemini-1.0-pro', input(30_720)],
    ['gemini-2.0-flash-001', input(1_048_576)],
    ['gemini-live-2.5-flash-preview', input(32_768)],
    ['gemma-2-9b-it', total(8192)],
    ['codegemma:7b', total(8192)],
    ['medgemma:27b', total(131_072)],
    ['gemma-3-12b-it-qat-q4_0-gguf', total(131_072)],

    // Files, tags and routers' suffixes.
    ['Qwen/Qwen2.5-72B-Instruct-AWQ', total(32_768)],
    ['lmstudio-community/Qwen2.5-Coder-32B-Instruct-MLX-4bit', total(32_768)],
    ['Qwen2.5-14B-Instruct-1M', total(1_000_000)],
    ['qwen3:32b-q8_0', total(40_960)],
    ['qwq:32b', total(131_072)],
    ['deepseek/deepseek-chat-v3-0324:free', total(128_000)],
    ['deepseek-r1:latest', total(128_000)],
    ['deepseek-coder:6.7b', total(16_384)],
    ['deepseek-v3.1:671b-cloud', total(131_072)],
    ['neuralmagic/Meta-Llama-3.1-8B-Instruct-quantized.w8a8', total(131_072)],
    ['mlx-community/Llama-3.2-3B-Instruct-4bit', total(131_072)],
    ['Llama-2-7b-chat-hf', total(4096)],
    ['Llama-2-7B-32K-Instruct', total(32_768)],
    ['Yarn-Mistral-7b-128k', total(128_000)],
    ['Llama-3-8B-Instruct-262k', total(262_000)],
    ['codellama-34b-instruct', total(16_384)],
    ['TinyLlama-1.1B-Chat-v1.0', total(2048)],
    ['vicuna-13b-v1.5', total(4096)],
    ['Hermes-3-Llama-3.1-8B', total(131_072)],
    ['nous-hermes-2-mixtral-8x7b-dpo', total(32_768)],
    ['mistral-7b-instruct-v0.3', total(32_768)],
    ['mistral-7b-instruct-v0.1', total(8192)],
    ['mistral-small:24b-instruct-2501-q4_K_M', total(32_768)],
    ['devstral:24b', total(128_000)],
    ['codestral-2405', total(32_768)],
    ['mixtral:8x22b', total(65_536)],
    ['phi-4-reasoning-plus', total(32_768)],
    ['phi3:mini-4k', total(4096)],
    ['phi-3-mini-128k-instruct', total(128_000)],
    ['microsoft/phi-2', total(2048)],
    ['chatglm3-6b', total(8192)],
    ['moonshot-v1-auto', total(131_072)],
    ['yi-34b-200k', total(200_000)],
    ['doubao-pro-32k', total(32_768)],
    ['granite3.3:8b', total(131_072)],
    ['granite-3.0-8b-instruct', total(4096)],
    ['seed-oss-36b', total(524_288)],
    ['glm-4-9b-chat-1m', total(1_000_000)],
    ['grok-2-vision-1212', total(32_768)],
  ])('%s', (model, window) => {
    expect(tableWindow(model, null)).toEqual(window)
  })
})
