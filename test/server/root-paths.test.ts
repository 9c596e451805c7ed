import { describe, expect, test } from 'vitest'
import { fakeUpstream, json } from '../support/fake-upstream.ts'
import { rawExchange } from '../support/raw-client.ts'
import { proxyBefore, startProxy, type TestProxy } from './start-proxy.ts'
import { FoldgateError } from '../../src/errors.ts'
import { errorBodyAt } from '../../src/formats/formats.ts'
import { routeOf } from '../../src/server/server.ts'

/** Asks for a target, byte for byte, and returns the answer's status. */
async function ask({ port }: TestProxy, target: string, method = 'GET'): Promise<number> {
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
  const { statusLine } = await rawExchange(port, head)
  return Number(statusLine.slice(9, 12))
}

// The README says that everything else is relayed. But whoever set the URL that llama.cpp's server, Ollama and vLLM tell,
// which ends in `/v1`, got 404 for all that they serve beside their API: `/props` went to `/v1/props`.
describe('what a server serves at its root is reached there', () => {
  const targets =
    '/props /props?model=a%2Fb&autoload=false /slots /metrics /health /version /info /load /ping /get_server_info /api/tags /api/ps/ /api//tags /api/blobs/sha256:0%61 /'.split(
      ' ',
    )

  test.each(['', '/', '/v1', '/v1/'])('the URL in the settings ends in %j', async (end) => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(`${upstream.origin}${end}`)
    for (const target of targets) expect(await ask(proxy, target)).toBe(200)
    expect(upstream.requests.map(({ url }) => url)).toEqual(targets)
  })

  test('with its method and its body', async () => {
    await using proxy = await proxyBefore(json({ tokens: [1] }))
    const paths = ['/tokenize', '/detokenize', '/apply-template', '/api/show']
    for (const path of paths) await fetch(proxy.origin + path, { method: 'POST', body: path })
    const sent = proxy.upstream.requests.map(({ method, url, body }) => `${method} ${url} ${body.toString()}`)
    expect(sent).toEqual(paths.map((path) => `POST ${path} ${path}`))
  })

  test('of a named upstream, below the path that its URL has before /v1', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using other = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url, {
      upstreams: { local: { url: `${other.origin}/llama/v1` } },
    })
    for (const target of ['/u/local/props?a=1', '/u/local', '/u/local/healthz', '/u/local/v1/models'])
      expect(await ask(proxy, target)).toBe(200)
    const urls = other.requests.map(({ url }) => url)
    expect(urls).toEqual(['/llama/props?a=1', '/llama/', '/llama/healthz', '/llama/v1/models'])
    expect(upstream.requests).toEqual([])
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
    const urls = upstream.requests.map(({ url }) => url)
    expect(urls).toEqual(['/%61pi/tags', '/secret', '/props', '//props'].map((path) => `/llama/v1${path}`))
  })
})

test('an error is written as Anthropic writes one at its own paths, as OpenAI does at all others', async () => {
  await using proxy = await startProxy('http://127.0.0.1:9/v1')
  const errorAt = async (path: string) => {
    const answer = await fetch(`${proxy.origin}${path}`, { method: 'POST', body: '{}' })
    return [path, answer.status, await answer.json()]
  }
  const [param, message] = [null, expect.any(String)]
  for (const path of ['', '?beta=true', '/', '/count_tokens?beta=true'].map((end) => `/v1/messages${end}`)) {
    const error = { type: 'api_error', message, param, code: 'upstream_unreachable' }
    expect(await errorAt(path)).toEqual([path, 502, { type: 'error', error, request_id: null }])
  }
  const unknown = { type: 'not_found_error', message, param, code: 'unknown_upstream' }
  const nobody = '/u/nobody/v1/messages'
  expect(await errorAt(nobody)).toEqual([nobody, 404, { type: 'error', error: unknown, request_id: null }])
  const others =
    '/v1/chat/completions /v1/chat/completions/chatcmpl-1/messages /v1/responses/resp_1/cancel ' +
    '/v1/threads/thread_1/messages /v1/embeddings?x=/messages /u/messages/v1/embeddings /my-messages'
  for (const path of others.split(' ')) {
    const error = { type: 'foldgate_error', message, param, code: expect.any(String) }
    expect(await errorAt(path)).toEqual([path, expect.any(Number), { error }])
  }
})

// npm's `ollama` asks for its models first, and showed "[object Object]" for each error of Foldgate's own.
test('an error is a text beside Ollama’s chat, too', async () => {
  await using proxy = await startProxy('http://127.0.0.1:9/v1')
  for (const path of ['/api/chat', '/api/tags', '/api/generate', '/u/nobody/api/tags']) {
    const answer = await fetch(`${proxy.origin}${path}`, { method: 'POST', body: '{}' })
    expect(await answer.json()).toMatchObject({ error: expect.any(String), code: expect.any(String) })
  }
  for (const path of ['/api/v0/models', '/api/v1/models', '/api/paas/v4/chat/completions', '/my-api/tags']) {
    const answer = await fetch(`${proxy.origin}${path}`, { method: 'POST', body: '{}' })
    expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) } })
  }
})

test.each([
  ['unknown_profile', 'invalid_request_error'],
  ['client_key_required', 'authentication_error'],
  ['endpoint_not_allowed', 'permission_error'],
  ['body_timeout', 'timeout_error'],
  ['body_too_large', 'request_too_large'],
  ['internal_error', 'api_error'],
  ['overloaded', 'overloaded_error'],
  ['upstream_timeout', 'timeout_error'],
] as const)('%s has the type by which clients of Anthropic tell errors apart, %s', (code, type) => {
  const { error } = JSON.parse(errorBodyAt('/v1/messages')(new FoldgateError(code, 'No.', { param: 'p' })))
  expect(error).toEqual({ type, message: 'No.', code, param: 'p' })
})

test.each([
  ['POST', '/v1/chat/completions', true],
  ['POST', '/chat/completions', true],
  ['POST', '/openai/v1/chat/completions/', true],
  ['POST', '/openai/deployments/d/chat/completions?api-version=1', true],
  ['GET', '/v1/chat/completions', false],
  ['POST', '/v1/chat/completions/chatcmpl-1', false],
  ['POST', '/v1/completions', false],
  ['POST', '/v1/responses', true],
  ['POST', '/openai/v1/responses/compact', true],
  ['POST', '/v1/responses/resp_1/cancel', false],
  ['GET', '/v1/responses/resp_1', false],
  ['POST', '/v1/responses/input_tokens', false],
  ['POST', '/v1/messages?beta=true', true],
  ['POST', '/anthropic/v1/messages', true],
  ['POST', '/v1/messages/count_tokens', false],
  ['POST', '/v1/messages/batches', false],
  ['POST', '/v1/embeddings?x=/chat/completions', false],
])('%s %s is a conversation that is read: %s', (method, path, expected) => {
  expect(routeOf(method, path).kind === 'conversation').toBe(expected)
})

test.each([
  ['POST', '/v1/completions', '/completions'],
  ['POST', '/api/generate', null],
  ['GET', '/v1/responses', null],
  ['POST', '/v1/threads/thread_1/messages', null],
  ['POST', '/v1/embeddings', null],
  ['PROPFIND', '/v1/messages', null],
  ['GET', '/', null],
])('%s %s is relayed, and generation that is not compacted: %s', (method, path, uncompacted) => {
  expect(routeOf(method, path)).toEqual({ kind: 'relay', uncompacted })
})
