import { describe, expect, test } from 'vitest'
import { fakeUpstream, json } from '../support/fake-upstream.ts'
import { rawExchange } from '../support/raw-client.ts'
import { proxyBefore, startProxy, type TestProxy } from './start-proxy.ts'

/** Asks for a target, byte for byte, and returns the answer's status. */
async function ask({ port }: TestProxy, target: string, method = 'GET'): Promise<number> {
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
  const { statusLine } = await rawExchange(port, head)
  return Number(statusLine.slice(9, 12))
}

// The README says that everything else is relayed. But whoever set the URL that llama.cpp's server, Ollama and vLLM tell,
// which ends in `/v1`, got 404 for all that they serve beside their API: `/props` went to `/v1/props`.
describe('what a server serves at its root is reached there', () => {
  const targets = [
    '/props',
    '/props?model=a%2Fb&autoload=false',
    '/slots',
    '/metrics',
    '/health',
    '/version',
    '/info',
    '/load',
    '/ping',
    '/get_server_info',
    '/api/tags',
    '/api/ps/',
    '/api//tags',
    '/api/blobs/sha256:0%61',
    '/',
  ]

  test.each(['', '/', '/v1', '/v1/'])('the URL in the settings ends in %j', async (end) => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(`${upstream.origin}${end}`)
    for (const target of targets) expect(await ask(proxy, target)).toBe(200)
    expect(upstream.requests.map(({ url }) => url)).toEqual(targets)
  })

  test('with its method and its body', async () => {
    await using proxy = await proxyBefore(json({ tokens: [1] }))
    for (const path of ['/tokenize', '/detokenize', '/apply-template', '/api/show']) {
      await fetch(`${proxy.origin}${path}`, { method: 'POST', body: `{"content":"${path}"}` })
    }
    expect(proxy.upstream.requests.map(({ method, url, body }) => [method, url, body.toString()])).toEqual([
      ['POST', '/tokenize', '{"content":"/tokenize"}'],
      ['POST', '/detokenize', '{"content":"/detokenize"}'],
      ['POST', '/apply-template', '{"content":"/apply-template"}'],
      ['POST', '/api/show', '{"content":"/api/show"}'],
    ])
  })

  test('of a named upstream, below the path that its URL has before /v1', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using other = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url, {
      upstreams: { local: { url: `${other.origin}/llama/v1` } },
    })
    for (const target of ['/u/local/props?a=1', '/u/local', '/u/local/healthz', '/u/local/v1/models'])
      expect(await ask(proxy, target)).toBe(200)
    expect(other.requests.map(({ url }) => url)).toEqual([
      '/llama/props?a=1',
      '/llama/',
      '/llama/healthz',
      '/llama/v1/models',
    ])
    expect(upstream.requests).toEqual([])
  })

  test('but for the two probes that are Foldgate’s own', async () => {
    await using proxy = await proxyBefore(json({}))
    for (const target of ['/healthz', '/readyz']) expect(await ask(proxy, target)).toBe(200)
    expect(proxy.upstream.requests).toEqual([])
  })

  test('and nothing else of the host', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(`${upstream.origin}/llama/v1`)
    for (const target of [
      '/api/../../secret',
      '/api/%2e%2e/%2e%2e/secret',
      '/props/..;/secret',
      '//props',
      `http://127.0.0.1:${upstream.port}/props`,
    ])
      expect(await ask(proxy, target)).toBe(400)
    for (const target of ['/%61pi/tags', '/secret', '/v1/props', '/v1//props'])
      expect(await ask(proxy, target)).toBe(200)
    expect(upstream.requests.map(({ url }) => url)).toEqual([
      '/llama/v1/%61pi/tags',
      '/llama/v1/secret',
      '/llama/v1/props',
      '/llama/v1//props',
    ])
  })
})
