import { describe, expect, test } from 'vitest'
import { probesFor } from '../../../src/models/discovery/probes.ts'

function paths(url: string): (string | undefined)[] {
  const { origin, pathname } = new URL(url)
  return probesFor(origin, pathname.replace(/\/$/, '')).flatMap((probe) => probe.paths('m/x'))
}

describe('known hosts are asked exactly what they answer', () => {
  test.each([
    ['https://openrouter.ai/api/v1', '/api/v1/models'],
    ['https://api.groq.com/openai/v1', '/openai/v1/models'],
    ['https://api.mistral.ai/v1', '/v1/models'],
    ['https://api.together.xyz/v1', '/v1/models'],
    ['https://api.fireworks.ai/inference/v1', '/inference/v1/models'],
    ['https://api.moonshot.cn/v1', '/v1/models'],
    ['https://router.huggingface.co/v1', '/v1/models'],
    ['https://api.individual.githubcopilot.com', '/models'],
    ['https://ai-gateway.vercel.sh/v1', '/v1/models'],
    ['https://api.deepinfra.com/v1/openai', '/v1/openai/models'],
    ['https://api.x.ai/v1', '/v1/language-models'],
    ['https://api.anthropic.com/v1', '/v1/models?limit=1000'],
    ['https://generativelanguage.googleapis.com/v1beta/openai', '/v1beta/models?pageSize=1000'],
    ['https://generativelanguage.googleapis.com/v1/openai', '/v1beta/models?pageSize=1000'],
    ['https://models.github.ai/inference', '/catalog/models'],
    ['https://models.github.ai/orgs/o/inference', '/catalog/models'],
    ['https://api.cerebras.ai/v1', '/public/v1/models'],
    ['https://ollama.com/v1', '/api/show'],
    [
      'https://api.cloudflare.com/client/v4/accounts/1/ai/v1',
      '/client/v4/accounts/1/ai/models/search?search=x',
    ],
  ])('%s: %s', (url, expected) => {
    expect(paths(url)).toEqual([expected])
  })

  test('Anthropic wants the key and its version in headers of its own', () => {
    expect(probesFor('https://api.anthropic.com', '/v1')).toMatchObject([
      { keyPlace: 'x-api-key', headers: ['anthropic-version', '2023-06-01'] },
    ])
  })

  test.each([
    'https://api.openai.com/v1',
    'https://eu.api.openai.com/v1',
    'https://mine.openai.azure.com/openai/v1',
    'https://mine.services.ai.azure.com/models',
    'https://models.inference.ai.azure.com',
    'https://api.deepseek.com',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    'https://coding-intl.dashscope.aliyuncs.com/v1',
    'https://api.z.ai/api/paas/v4',
    'https://open.bigmodel.cn/api/paas/v4',
    'https://api.minimax.io/v1',
    'https://api.perplexity.ai',
    'https://x.cloud.databricks.com/serving-endpoints',
    'https://adb-1.2.azuredatabricks.net/serving-endpoints',
    'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1',
    'https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/l/endpoints/openapi',
  ])('%s: nothing', (url) => {
    expect(paths(url)).toEqual([])
  })

  test.each([
    'https://notopenai.com/v1',
    'https://openai.com.example/v1',
    'https://vm.eu.cloudapp.azure.com/v1',
  ])('%s may be anything', (url) => {
    expect(paths(url).length).toBeGreaterThan(10)
  })
})

describe('gateways at other hosts are known by their paths', () => {
  test.each([
    ['https://gateway.example/google/v1beta/openai', ['/google/v1beta/models?pageSize=1000']],
    [
      'https://gateway.example/cf/client/v4/accounts/1/ai/v1',
      ['/cf/client/v4/accounts/1/ai/models/search?search=x'],
    ],
  ])('%s', (url, expected) => {
    expect(paths(url)).toEqual(expected)
  })

  // The Gemini path used to mean Google's own header for the key wherever it was found. A gateway that wants its own
  // key as a bearer token got it there instead, without the authorization that its client had sent.
  test('and keep their own way with keys', () => {
    const [google] = probesFor('https://generativelanguage.googleapis.com', '/v1beta/openai')
    const [gateway] = probesFor('https://gateway.example', '/google/v1beta/openai')
    expect(google?.keyPlace).toBe('x-goog-api-key')
    expect(gateway?.keyPlace).toBeNull()
  })

  test('a base for inference has the catalogue beside it', () => {
    expect(paths('https://gateway.example/gh/inference')).toContain('/gh/catalog/models')
  })
})

describe('any other server is asked everything it could be', () => {
  test.each([
    ['http://h:8000/v1', ''],
    ['http://h:8000', ''],
    ['http://h:8000/openai/v1', ''],
    ['http://h:8000/llm/v1', '/llm'],
    ['http://h:8000/llm/inference/v1', '/llm'],
    ['http://h:8000/openai/deployments/d', ''],
    ['http://h:8000/llm', '/llm'],
  ])("%s: its own endpoints begin at '%s'", (url, root) => {
    const asked = paths(url)
    expect(asked[0]).toBe(`${new URL(url).pathname.replace(/\/$/, '')}/models`)
    for (const path of [
      '/api/ps',
      '/api/v0/models',
      '/api/v1/models',
      '/info',
      '/v1/model/info',
      '/model/info',
    ]) {
      expect(asked).toContain(`${root}${path}`)
    }
  })

  test('no path is asked twice', () => {
    for (const base of ['/api/v1', '/api/v0', '/public/v1', '/v1', '']) {
      const asked = paths(`http://h${base}`)
      expect(new Set(asked).size).toBe(asked.length)
    }
  })
})
