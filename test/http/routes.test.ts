import { expect, test } from 'vitest'
import { routeOf } from '../../src/http/routes.ts'

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
