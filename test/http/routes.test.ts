import { expect, test } from 'vitest'
import { FoldgateError } from '../../src/errors.ts'
import { errorBodyAt } from '../../src/dialects/dialects.ts'
import { routeOf } from '../../src/http/routes.ts'
import { startProxy } from './start-proxy.ts'

/** What is answered at a path if there is no upstream of the name in it, else if the default one is out of reach. */
async function errorAt(path: string): Promise<{ status: number; body: unknown }> {
  await using proxy = await startProxy('http://127.0.0.1:9/v1')
  const answer = await fetch(`${proxy.origin}${path}`, { method: 'POST', body: '{}' })
  return { status: answer.status, body: await answer.json() }
}

test.each([
  ['/v1/messages', 502, 'api_error', 'upstream_unreachable'],
  ['/v1/messages?beta=true', 502, 'api_error', 'upstream_unreachable'],
  ['/anthropic/v1/messages/', 502, 'api_error', 'upstream_unreachable'],
  ['/v1/messages/count_tokens?beta=true', 502, 'api_error', 'upstream_unreachable'],
  ['/u/nobody/v1/messages', 404, 'not_found_error', 'unknown_upstream'],
])('at %s an error is written as Anthropic writes one', async (path, status, type, code) => {
  expect(await errorAt(path)).toEqual({
    status,
    body: {
      type: 'error',
      error: { type, message: expect.any(String), param: null, code },
      request_id: null,
    },
  })
})

test.each([
  '/v1/chat/completions',
  '/v1/chat/completions/chatcmpl-1/messages',
  '/v1/responses/resp_1/cancel',
  '/v1/threads/thread_1/messages',
  '/v1/embeddings?x=/messages',
  '/u/messages/v1/embeddings',
  '/my-messages',
])('at %s it is written as OpenAI writes one', async (path) => {
  expect((await errorAt(path)).body).toEqual({
    error: { type: 'foldgate_error', message: expect.any(String), param: null, code: expect.any(String) },
  })
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
  ['POST', '/api/chat', '/api/chat'],
  ['GET', '/v1/responses', null],
  ['POST', '/v1/threads/thread_1/messages', null],
  ['POST', '/v1/embeddings', null],
  ['PROPFIND', '/v1/messages', null],
  ['GET', '/', null],
])('%s %s is relayed, and generation that is not compacted: %s', (method, path, uncompacted) => {
  expect(routeOf(method, path)).toEqual({ kind: 'relay', uncompacted })
})
