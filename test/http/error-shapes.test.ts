import { expect, test } from 'vitest'
import { FoldgateError } from '../../src/errors.ts'
import { errorBodyAt } from '../../src/dialects/dialects.ts'
import { json, fakeUpstream } from '../support/fake-upstream.ts'
import { startProxy } from './start-proxy.ts'

/** What is answered at a path if there is no upstream of the name in it, else if the default one is out of reach. */
async function errorAt(path: string): Promise<{ status: number; body: unknown }> {
  const upstream = await fakeUpstream(json({}))
  await upstream.close()
  await using proxy = await startProxy(upstream.url)
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
