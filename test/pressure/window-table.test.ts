import { describe, expect, test } from 'vitest'
import { listedName, modelSpellings } from '../../src/pressure/model-spellings.ts'
import { windowFamilies } from '../../src/pressure/window-families.ts'
import { windowFigures } from '../../src/pressure/window-figures.ts'
import { isListedHost, tableWindow } from '../../src/pressure/window-table.ts'

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
    ['anthropic.claude-3-haiku-20240307-v1:0:48k', total(200_000)],
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
    ['Mistral-7B-Instruct-v0.3.Q5_0.gguf', total(65_536)],
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

describe('which hosts are listed', () => {
  test.each([
    'api.openai.com',
    'API.OpenAI.com',
    'us.api.openai.com',
    'my-resource.openai.azure.com',
    'my-resource.services.ai.azure.com',
    'bedrock-runtime.us-west-2.amazonaws.com',
    'bedrock-mantle.eu-west-1.api.aws',
    'europe-west4-aiplatform.googleapis.com',
    'aiplatform.googleapis.com',
    'openrouter.ai',
    'router.huggingface.co',
    'api.business.githubcopilot.com',
    'dashscope.aliyuncs.com',
    'ws-1.ap-southeast-1.maas.aliyuncs.com',
    'api.together.xyz',
  ])('%s is', (host) => {
    expect(isListedHost(host)).toBe(true)
  })

  test.each([
    'localhost',
    '127.0.0.1',
    '[::1]',
    '192.168.1.5',
    'host.docker.internal',
    'ollama',
    'gpu-box.local',
    'llm.example.com',
    'openai.azure.com.example.com',
    '.openai.azure.com',
    'api.openai.com.example.com',
    'bedrock-runtime..amazonaws.com',
    '',
    '*',
  ])('“%s” is not', (host) => {
    expect(isListedHost(host)).toBe(false)
  })
})

function isRow(row: string): boolean {
  const [, name = '', tokens = ''] = /^(\S+) (\d+)(?: input)?$/.exec(row) ?? []
  return listedName(name) === name && Number(tokens) >= 512 && Number(tokens) <= 20_000_000
}

describe('the figures', () => {
  const lines = windowFigures.trim().split('\n')
  const rows = lines.filter((line) => !line.startsWith('@'))

  test('every row is a name as it is looked up and a window that a model may have', () => {
    expect(rows.filter((row) => !isRow(row))).toEqual([])
    expect(rows.length).toBeGreaterThan(1000)
  })

  test('each name stands once under each host', () => {
    for (const section of windowFigures.split('@ ').slice(1)) {
      const names = section
        .trim()
        .split('\n')
        .slice(1)
        .map((row) => row.split(' ')[0])
      expect(names).not.toEqual([])
      expect(names).toEqual([...new Set(names)])
    }
  })
})

describe('the families', () => {
  test.each(windowFamilies)('the row of $sample is the first that finds it', (row) => {
    const name = row.sample.toLowerCase().replaceAll('_', '-')
    expect(windowFamilies.find(({ pattern }) => pattern.test(name))).toBe(row)
  })
})
