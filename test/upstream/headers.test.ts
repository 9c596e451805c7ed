import { describe, expect, test } from 'vitest'
import {
  clientCredential,
  clientCredentials,
  createHeldKeyMarks,
  credentialHeadersOf,
  heldKeyHeader,
} from '../../src/upstream/credential.ts'
import { asRecord, headerNameOf, requestHeaders, responseHeaders } from '../../src/upstream/headers.ts'
import { retryAfterMs } from '../../src/upstream/answer-head.ts'

/** A flat header list from lines. */
const raw = (...lines: string[]): string[] =>
  lines.flatMap((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)])

const plain = { forwardCredential: true, configured: [], bodyBytes: null } as const

describe('request headers', () => {
  test('keep order, spelling and repetition', () => {
    const rawHeaders = raw('X-B: 2', 'x-a: 1', 'X-B: 3', 'OpenAI-Organization: org', 'Idempotency-Key: k')
    expect(requestHeaders({ ...plain, rawHeaders })).toEqual(rawHeaders)
  })

  test('lose what belongs to the connection, and what the connection header names', () => {
    const rawHeaders = raw(
      'Host: foldgate:3653',
      'Connection: keep-alive, X-Private',
      'Keep-Alive: timeout=5',
      'X-Private: 1',
      'TE: trailers',
      'Trailer: x',
      'Transfer-Encoding: chunked',
      'Upgrade: h2c',
      'HTTP2-Settings: x',
      'Proxy-Authorization: secret',
      'Proxy-Connection: x',
      'Expect: 100-continue',
      'Content-Length: 7',
      'Accept: */*',
    )
    expect(requestHeaders({ ...plain, rawHeaders })).toEqual(['Accept', '*/*'])
  })

  test('configured headers replace the client’s of the same name', () => {
    const headers = requestHeaders({
      ...plain,
      rawHeaders: ['Authorization', 'Bearer client', 'X-Team', 'a', 'accept', '*/*'],
      configured: [
        ['authorization', 'Bearer held'],
        ['x-team', 'b'],
      ],
    })
    expect(headers).toEqual(['accept', '*/*', 'authorization', 'Bearer held', 'x-team', 'b'])
  })

  test("the client's credential stays behind where the upstream may not see it", () => {
    const rawHeaders = raw('authorization: a', 'Api-Key: b', 'x-api-key: c', 'X-Goog-Api-Key: d', 'cookie: e')
    expect(requestHeaders({ ...plain, rawHeaders, forwardCredential: false })).toEqual([])
    expect(requestHeaders({ ...plain, rawHeaders })).toEqual(rawHeaders)
  })

  test('overrides replace and drop', () => {
    const headers = requestHeaders({
      ...plain,
      rawHeaders: ['Content-Encoding', 'gzip', 'Idempotency-Key', 'old', 'a', 'b'],
      overrides: { 'content-encoding': null, 'idempotency-key': 'new' },
    })
    expect(headers).toEqual(['a', 'b', 'idempotency-key', 'new'])
  })

  // A configured value with a line break would let its author write further headers, or a second request.
  test('a value with a line break is not sent', () => {
    const configured = [
      ['x-ok', 'fine'],
      ['x-bad', 'a\r\nx-injected: 1'],
      ['x bad', 'a'],
      ['x:bad', 'a'],
      ['', 'a'],
    ] as const
    expect(requestHeaders({ ...plain, rawHeaders: [], configured })).toEqual(['x-ok', 'fine'])
  })
})

describe('response headers', () => {
  test('a length beside a transfer coding is void', () => {
    const rawHeaders = ['Transfer-Encoding', 'chunked', 'Content-Length', '5']
    expect(responseHeaders({ rawHeaders, own: {} })).toEqual([])
  })

  test('vary is added to, others of ours replace', () => {
    const rawHeaders = ['Vary', 'accept', 'Access-Control-Allow-Origin', '*']
    const own = { vary: 'origin', 'access-control-allow-origin': 'http://a' }
    expect(responseHeaders({ rawHeaders, own })).toEqual(
      raw('Vary: accept', 'vary: origin', 'access-control-allow-origin: http://a'),
    )
  })
})

describe('credentials', () => {
  test('are all found, the one that a header carries first; empty ones are none', () => {
    const rawHeaders = ['X-Api-Key', 'b', 'authorization', 'Bearer a', 'api-key', '', 'x-api-key', 'c']
    expect(clientCredentials(rawHeaders, '?key=d&key=&key=e')).toEqual([
      { place: 'authorization', value: 'a' },
      { place: 'x-api-key', value: 'b' },
      { place: 'x-api-key', value: 'c' },
      { place: 'query', value: 'd' },
      { place: 'query', value: 'e' },
    ])
    expect(clientCredential(rawHeaders, '?key=d')).toEqual({ place: 'authorization', value: 'a' })
  })

  test('a held key goes where the client’s went, to Azure as api-key', () => {
    expect(heldKeyHeader('k', 'x-api-key', 'https://h', '/v1')).toEqual(['x-api-key', 'k'])
    expect(heldKeyHeader('k', 'authorization', 'https://h', '/v1')).toEqual(['authorization', 'Bearer k'])
    expect(heldKeyHeader('k', null, 'https://r.openai.azure.com', '/v1')).toEqual(['api-key', 'k'])
    expect(heldKeyHeader('k', null, 'https://azure.com.evil.example', '/v1')).toEqual([
      'authorization',
      'Bearer k',
    ])
  })

  // Claude Code with a client key of Foldgate's as its token had the held key sent as one, and Anthropic knew no such token.
  test('to Anthropic’s API as x-api-key, unless it is a token itself, or goes to the API for clients of OpenAI’s', () => {
    const anthropic = 'https://api.anthropic.com'
    const held = (key: string, path: string | null) => heldKeyHeader(key, 'authorization', anthropic, path)
    expect(held('sk-ant-api03-k', '/v1/messages')).toEqual(['x-api-key', 'sk-ant-api03-k'])
    expect(held('sk-ant-api03-k', null)).toEqual(['x-api-key', 'sk-ant-api03-k'])
    expect(held('sk-ant-api03-k', '/v1/chat/completions')[0]).toBe('authorization')
    expect(held('sk-ant-oat01-k', '/v1/messages')).toEqual(['authorization', 'Bearer sk-ant-oat01-k'])
  })
})

test('as a record, repeated names become a list under their first spelling', () => {
  expect({ ...asRecord(['A', '1', 'b', '2', 'a', '3', 'a', '4']) }).toEqual({ A: ['1', '3', '4'], b: '2' })
})

// Summaries at another upstream took the credentials by a loop of their own, which left `connection` out: a header that
// the client had named as the connection's own went on all the same.
test('the credentials of a request, as they came, and which headers are not to be passed on', () => {
  const own = raw('Authorization: Bearer a', 'X-API-Key: b')
  const connection = raw('Connection: X-API-Key')
  expect(credentialHeadersOf([...raw('Host: h'), ...own, ...raw('cookie: c'), ...connection])).toEqual([
    ...own,
    ...connection,
  ])
})

test('a mark is the same for the same key, another for another one or another installation, and shows none', () => {
  let key: string | null = 'sk-PLANTED'
  const marks = (secret: number) =>
    createHeldKeyMarks({ secret: Buffer.alloc(32, secret), keyOf: (name) => (name === 'open' ? null : key) })
  const [one, other] = [marks(1), marks(2)]
  const first = one('default')
  expect(first).toHaveLength(22)
  expect(first).not.toContain('PLANTED')
  expect([one('default'), one('cheap'), marks(1)('default')]).toEqual([first, first, first])
  expect(other('default')).not.toBe(first)
  expect(one('open')).toBe('')
  key = 'sk-new'
  const second = one('default')
  expect(second).not.toBe(first)
  key = 'sk-PLANTED'
  expect(one('default')).toBe(first)
})

test('however many names come, each is what it is', () => {
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 2_500; index += 1) {
      const long = 'n'.repeat(index % 100)
      expect(headerNameOf(`X-${long}-${index}`)).toEqual({
        lower: `x-${long}-${index}`,
        isToken: true,
        stays: false,
      })
    }
  }
  expect(headerNameOf('Connection').stays).toBe(true)
})

test('when to come back, in seconds or as a date', () => {
  expect(retryAfterMs('7', 0)).toBe(7000)
  expect(retryAfterMs(' 0.5 ', 0)).toBe(500)
  expect(retryAfterMs('Thu, 01 Jan 1970 00:01:00 GMT', 20_000)).toBe(40_000)
  expect(retryAfterMs('Thu, 01 Jan 1970 00:01:00 GMT', 90_000)).toBe(0)
})

test('is not known where the header says neither', () => {
  for (const header of [null, '', 'soon', '-1', '1e400']) expect(retryAfterMs(header, 0)).toBeNull()
})
