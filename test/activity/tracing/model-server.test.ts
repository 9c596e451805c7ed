import { describe, expect, test } from 'vitest'
import { modelServer, providers } from '../../../src/activity/tracing/model-server.ts'

describe('the server of a model', () => {
  test.each(providers)('$sample is $provider', ({ provider, sample }) => {
    const names = providers.filter(({ pattern }) => pattern.test(sample)).map((each) => each.provider)
    expect(names).toEqual([provider])
    expect(modelServer(`https://${sample}/v1`)).toEqual({ provider, address: sample, port: 443 })
  })

  test('every other speaks the format of OpenAI, whatever it is', () => {
    for (const host of ['api.openai.com', 'openrouter.ai', 'notgroq.com', 'box.ai', 'groq.com.example']) {
      expect(modelServer(`https://${host}/v1`).provider).toBe('openai')
    }
  })

  test('has the port of its scheme where the address names none, and no brackets', () => {
    expect(modelServer('http://vllm.internal/v1').port).toBe(80)
    expect(modelServer('http://[::1]:8080/v1')).toMatchObject({ address: '::1', port: 8080 })
  })
})
