import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runProbes } from '../../../src/models/discovery/server-windows.ts'
import { type Probe, probesFor } from '../../../src/models/discovery/probes.ts'
import { emptyReading, type Reading } from '../../../src/models/discovery/reading.ts'

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

  test('and those that tell nothing are not asked', () => {
    const silent = `https://api.openai.com/v1 https://eu.api.openai.com/v1 https://mine.openai.azure.com/openai/v1
      https://mine.services.ai.azure.com/models https://models.inference.ai.azure.com https://api.deepseek.com
      https://dashscope-intl.aliyuncs.com/compatible-mode/v1 https://coding-intl.dashscope.aliyuncs.com/v1
      https://api.z.ai/api/paas/v4 https://open.bigmodel.cn/api/paas/v4 https://api.minimax.io/v1
      https://api.perplexity.ai https://x.cloud.databricks.com/serving-endpoints
      https://adb-1.2.azuredatabricks.net/serving-endpoints
      https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1
      https://us-central1-aiplatform.googleapis.com/v1beta1/projects/p/locations/l/endpoints/openapi`
    for (const url of silent.split(/\s+/)) expect(paths(url), `of ${url}`).toEqual([])
  })

  test('what only looks like one of them may be anything', () => {
    const others = ['notopenai.com', 'openai.com.example', 'vm.eu.cloudapp.azure.com']
    for (const host of others) expect(paths(`https://${host}/v1`).length, `of ${host}`).toBeGreaterThan(10)
  })
})

describe('gateways at other hosts are known by their paths', () => {
  test('Gemini’s, Cloudflare’s, and a base for inference, which has the catalogue beside it', () => {
    const gateway = 'https://gateway.example'
    expect(paths(`${gateway}/google/v1beta/openai`)).toEqual(['/google/v1beta/models?pageSize=1000'])
    expect(paths(`${gateway}/cf/client/v4/accounts/1/ai/v1`)).toEqual([
      '/cf/client/v4/accounts/1/ai/models/search?search=x',
    ])
    expect(paths(`${gateway}/gh/inference`)).toContain('/gh/catalog/models')
  })

  // The Gemini path used to mean Google's own header for the key wherever it was found. A gateway that wants its own
  // key as a bearer token got it there instead, without the authorization that its client had sent.
  test('and keep their own way with keys', () => {
    const [google] = probesFor('https://generativelanguage.googleapis.com', '/v1beta/openai')
    const [gateway] = probesFor('https://gateway.example', '/google/v1beta/openai')
    expect([google?.keyPlace, gateway?.keyPlace]).toEqual(['x-goog-api-key', null])
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
    const own = '/api/ps /api/v0/models /api/v1/models /info /v1/model/info /model/info'.split(' ')
    for (const path of own) expect(asked).toContain(`${root}${path}`)
  })

  test('no path is asked twice', () => {
    for (const base of ['/api/v1', '/api/v0', '/public/v1', '/v1', '']) {
      const asked = paths(`http://h${base}`)
      expect(new Set(asked).size).toBe(asked.length)
    }
  })
})

/** Everything that an unknown server could be: its list, and eleven addresses beside it. */
const sweep = probesFor('http://127.0.0.1:8080', '/v1')

/** A server that answers when it is told to. Tells what it was asked, in order. */
function runAtSlowServer(isDeniedToSome: (probe: Probe) => boolean = () => false) {
  const asked: string[] = []
  const answers = new Map<string, (reading: Reading) => void>()
  const { settled, ended } = runProbes(sweep, {
    read: (probe) => {
      asked.push(probe.name)
      const { promise, resolve } = Promise.withResolvers<Reading>()
      answers.set(probe.name, resolve)
      return promise
    },
    isDeniedToSome,
    onReading: () => {},
  })
  const answer = async (name: string | undefined, use: Reading['use'] = 'useless'): Promise<void> => {
    answers.get(name ?? '')?.(emptyReading(use))
    await vi.advanceTimersByTimeAsync(0)
  }
  return { asked, answer, settled, ended }
}

/** The list has been asked and keeps silent, so that the first of the others are asked. */
async function runWithSilentList() {
  const run = runAtSlowServer()
  await vi.advanceTimersByTimeAsync(HEAD_START_MS)
  return run
}

const HEAD_START_MS = 150
const PATIENCE_MS = 250

// A server of one thread answered twelve questions before the first chat, which took 2.6 s.
describe('a server that answers slowly is asked a few things at once', () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  test('then three more, and another as soon as one of them is answered', async () => {
    const { asked, answer } = await runWithSilentList()
    expect(asked).toHaveLength(1 + 3)
    await answer(asked[2])
    expect(asked).toHaveLength(1 + 4)
    await answer(asked[1])
    expect(asked).toHaveLength(1 + 5)
  })

  test('questions that are never answered keep the others back for a moment each', async () => {
    const { asked, answer } = await runWithSilentList()
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1)
    expect(asked).toHaveLength(1 + 3)
    await vi.advanceTimersByTimeAsync(1)
    // Two more: the third, SGLang's, waits for what the list says.
    expect(asked).toHaveLength(1 + 5)
    await vi.advanceTimersByTimeAsync(3 * PATIENCE_MS)
    expect(asked).toHaveLength(sweep.length - 1)
    await answer('list')
    expect(asked.toSorted()).toEqual(sweep.map(({ name }) => name).toSorted())
  })

  test('once all are answered it is over, and no timer is left behind', async () => {
    const { asked, answer, settled, ended } = await runWithSilentList()
    for (let index = 0; index < sweep.length; index += 1) await answer(asked[index])
    await settled
    await ended
    expect(vi.getTimerCount()).toBe(0)
  })

  // Made-up credentials would each have cost the server a dozen requests.
  test('a credential that is denied the list is not tried on what others were denied', async () => {
    const { asked, answer, ended } = runAtSlowServer(() => true)
    await answer('list', 'denied')
    await vi.advanceTimersByTimeAsync(HEAD_START_MS)
    expect(asked).toEqual(['list'])
    await ended
  })
})
