import { expect, test } from 'vitest'
import { credentialHeadersOf } from '../../src/upstream/credential.ts'

// Summaries at another upstream took the credentials by a loop of their own, which left `connection` out: a header that
// the client had named as the connection's own went on all the same.
test('the credentials of a request, as they came, and which headers are not to be passed on', () => {
  const headers = [
    'Host',
    'h',
    'Authorization',
    'Bearer a',
    'X-API-Key',
    'b',
    'cookie',
    'c',
    'Connection',
    'X-API-Key',
  ]
  expect(credentialHeadersOf(headers)).toEqual([
    'Authorization',
    'Bearer a',
    'X-API-Key',
    'b',
    'Connection',
    'X-API-Key',
  ])
})
