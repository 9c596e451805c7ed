import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FoldgateError } from '../../src/errors.ts'
import { isLoopbackName, parseUpstreamAddress } from '../../src/upstream/address.ts'
import {
  apiBase,
  azureDeployment,
  keysOfQuery,
  parseTarget,
  pathAtUpstream,
  queryWithoutKey,
} from '../../src/upstream/target.ts'
import { mayCarryConversation } from '../../src/pipeline/confinement.ts'
import { routeOf } from '../../src/server/server.ts'
import { forAll } from '../support/property-runs.ts'

function joined(url: string, requestTarget: string): string {
  const target = parseTarget(requestTarget)
  return pathAtUpstream(parseUpstreamAddress(url), target) + target.query
}

/** The joined path; null where the target is refused. Any other error is thrown. */
function joinedOrRefused(url: string, requestTarget: string): string | null {
  try {
    return joined(url, requestTarget)
  } catch (error) {
    if (error instanceof FoldgateError) return null
    throw error
  }
}

describe('a path is joined to the upstream as bytes', () => {
  test.each([
    ['https://h/api/v1', '/v1/x', '/api/v1/x'],
    ['https://h/api/v1/', '/v1/x', '/api/v1/x'],
    ['https://h/api/v1', '/v1', '/api/v1'],
    ['https://h/api/v1', '/v1/', '/api/v1/'],
    ['https://h/api/v1', '/chat/completions', '/api/v1/chat/completions'],
    ['https://h/api/v1', '/v12/x', '/api/v1/v12/x'],
    ['https://h', '/v1/models', '/models'],
    ['https://h', '/v1', '/'],
    [
      'https://h',
      '/openai/deployments/d/chat/completions?api-version=2024-10-21',
      '/openai/deployments/d/chat/completions?api-version=2024-10-21',
    ],
    [
      'https://h/v1',
      '/v1/models/meta-llama%2FLlama-3.1%20x?a=%2e%2e/..&b=//',
      '/v1/models/meta-llama%2FLlama-3.1%20x?a=%2e%2e/..&b=//',
    ],
    // Encoded slashes, an at sign and a colon mean a host to nobody who joins bytes.
    ['https://h', '/%2f%2fevil.example/x', '/%2f%2fevil.example/x'],
    ['https://h/v1', '/v1/%2F%5Cevil.example', '/v1/%2F%5Cevil.example'],
    ['https://h', '/@evil.example:80/x', '/@evil.example:80/x'],
    ['https://h', '/http://evil.example/x', '/http://evil.example/x'],
    ['https://h/v1', '/v1/files/...hidden/a..b/.env', '/v1/files/...hidden/a..b/.env'],
    ['https://h/v1', '/u/cheap/v1/x?y', '/v1/x?y'],
    ['https://h/v1', '/v1/x?y=2', '/v1/x?y=2'],
    ['https://h/v1', '/v1/x?', '/v1/x?'],
    ['https://h/v1', '/x', '/v1/x'],
  ])('upstream %s, request %s: %s', (url, requestTarget, expected) => {
    expect(joined(url, requestTarget)).toBe(expected)
  })

  test.each([
    ['http://h/v1', '/slots/0?action=save', '/v1/slots/0?action=save'],
    ['http://h/v1', '/api', '/api'],
    ['http://h/v1', '/%70rops', '/v1/%70rops'],
    ['http://h/v1', '/api%2Ftags', '/v1/api%2Ftags'],
    ['http://h/v1', '/Props', '/v1/Props'],
    ['http://h/v1', '/props.json', '/v1/props.json'],
    // The client wrote that it means the API.
    ['http://h/v1', '/v1//props', '/v1//props'],
    // What servers serve in both places is the API's: a base URL without `/v1` means that.
    ['http://h/v1', '/models', '/v1/models'],
    ['http://h/v1', '/rerank', '/v1/rerank'],
  ])('the root of upstream %s, request %s: %s', (url, requestTarget, expected) => {
    expect(joined(url, requestTarget)).toBe(expected)
  })

  // The operator published what is behind `/llama`: nobody gets at what else the host has.
  test.each([
    ['https://h/llama/v1', '/api/tags', '/llama/api/tags'],
    ['https://h/inference/v1', '/metrics', '/inference/metrics'],
    ['https://h/api/v1', '/api/tags', '/api/tags'],
    ['https://h/api/v1', '/api', '/api'],
    ['https://h/api/v1', '/api/v1/chat/completions', '/api/v1/chat/completions'],
    ['https://h/api/v1', '/health', '/api/health'],
    ['https://h/apis/v1', '/api/tags', '/apis/api/tags'],
    ['https://h/api/paas/v4', '/api/tags', '/api/paas/api/tags'],
    ['https://h/v3', '/metrics', '/metrics'],
    // Where the API begins is not known: the path is one of the URL's own.
    ['https://h/v1beta/openai', '/metrics', '/v1beta/openai/metrics'],
    ['https://h/openai/deployments/d', '/metrics', '/openai/deployments/d/metrics'],
    ['https://h/api', '/api/tags', '/api/api/tags'],
    ['https://h/v1x', '/props', '/v1x/props'],
  ])('the root of a part of a host: upstream %s, request %s: %s', (url, requestTarget, expected) => {
    expect(joined(url, requestTarget)).toBe(expected)
  })

  test('a named upstream is chosen by /u/NAME', () => {
    expect(parseTarget('/u/cheap/v1/x')).toEqual({ upstreamName: 'cheap', path: '/v1/x', query: '' })
    expect(parseTarget('/u/cheap')).toEqual({ upstreamName: 'cheap', path: '/', query: '' })
    expect(parseTarget('/v1/u/cheap').upstreamName).toBeNull()
  })
})

/** What stands between spaces and line ends. */
const wordsOf = (text: string) => text.trim().split(/\s+/)

// A proxy that resolves what the client sends can be made to call other hosts, or other paths of the same
// host than the operator published. Each of these is a way in that some server somewhere understands.
describe('a path that could lead elsewhere is refused', () => {
  const shown = String.raw`
    http://evil.example/v1/x https://evil.example/ //evil.example/v1/x /\evil.example/v1/x \\evil.example/v1/x
    @evil.example/v1/x evil.example:443 /u/cheap/%2e%2e/x /u/%2e%2e/x /v1/.;/x /u/cheap//evil.example/x * v1/x
    /v1/../admin /v1/.. /v1/. /v1/./x /v1/%2e%2e/admin /v1/%2E%2e/admin /v1/.%2E/admin /v1/%252e%252e/admin
    /v1/%25252e./admin /v1/%2%65%2%65/admin /v1/..%2fadmin /v1/x%2f..%2fadmin /v1/x%2F%2e%2e%2Fadmin
    /v1/..%5cadmin /v1\..\admin /v1/..;/admin /v1/..;a=b/admin /u/../x /v1/x#/../y
  `
  const unseen = ['', '/v1/x\r\nHost: evil.example', '/v1/a b', '/v1/a\u0000b']
  test.each([...wordsOf(shown), ...unseen])('%j', (requestTarget) => {
    expect(() => parseTarget(requestTarget)).toThrow(
      expect.objectContaining({ name: 'FoldgateError', code: 'path_not_allowed' }),
    )
  })

  test('two slashes behind /v1 do not become a host', () => {
    expect(() => joined('https://h', '/v1//evil.example/x')).toThrow(FoldgateError)
  })

  test.each(['/base', '/base/v1'])(
    'whatever is let through keeps host and path of %s when a server resolves it',
    (base) => {
      const all = 'api props base / . .. %2e %2F \\ %5C ; a v1 u %25 2e ? @ :'
      const piece = fc.constantFrom(...all.split(' '))
      forAll(100, fc.array(piece, { maxLength: 12 }), (pieces) => {
        const requestTarget = `/${pieces.join('')}`
        const path = joinedOrRefused(`https://upstream.example${base}`, requestTarget)
        if (path === null) return
        const resolved = new URL(path, 'https://upstream.example')
        expect(resolved.host).toBe('upstream.example')
        expect(resolved.pathname + (path.includes('?') ? `?${path.split('?').slice(1).join('?')}` : '')).toBe(
          path,
        )
        expect(resolved.pathname.startsWith('/base')).toBe(true)
      })
    },
  )
})

describe('what may carry a conversation past Foldgate', () => {
  test.each(
    wordsOf(`
      / /v1/complete /v1/completions /v1/conversations /v1/responses /v1/messages /v1/messages/batches
      /v1/batches /v1/predictions /v1/threads/runs /v1/threads/t/runs /v1beta/models/m:generateContent
      /v1beta/models/m:batchGenerateContent /v1/projects/p/locations/l/publishers/g/models/m:predict
      /v2/models/x/infer /ml/v1/text/chat_stream /ml/v1/text/generation /models/org/embeddings
      /v1/chat/completions;/embeddings /v1/chat/completions/embeddings /v1/completions%2f..%2fembeddings
      /v1/files/a%2f..%2fcompletions /api/chat /api/generate /anything
    `),
  )('POST %s', (path) => {
    expect(mayCarryConversation('POST', path)).toBe(true)
    expect(mayCarryConversation('PUT', path)).toBe(true)
    expect(mayCarryConversation('GET', path)).toBe(false)
    expect(mayCarryConversation('DELETE', path)).toBe(false)
  })

  test.each(
    wordsOf(`
      /v1/embeddings /embeddings/?api-version=1 /openai/deployments/e-1/embeddings?api-version=1
      /api/embed /api/show /v1/files /v1/images/generations /v1/audio/transcriptions /v1/moderations
      /v2/rerank /score /tokenize /v1/messages/count_tokens /v1/vector_stores/vs_1/search
      /v1/threads/t/messages /v1beta/models/m:countTokens
    `),
  )('not POST %s', (path) => {
    expect(mayCarryConversation('POST', path)).toBe(false)
  })
})

describe('what a path asks for', () => {
  test('an Azure path names its deployment', () => {
    expect(azureDeployment('/openai/deployments/my%20gpt/chat/completions?api-version=1')).toBe('my gpt')
    expect(azureDeployment('/openai/deployments/%zz/chat/completions')).toBe('%zz')
    expect(azureDeployment('/v1/chat/completions')).toBeNull()
  })

  test.each([
    ['https://h/api/v1', '/v1/chat/completions', '/api/v1'],
    ['https://h/api/v1', '/chat/completions/?a=1', '/api/v1'],
    ['https://h', '/v1/chat/completions', ''],
    ['https://h', '/openai/deployments/d/chat/completions', '/openai/deployments/d'],
    ['https://h/v1', '/v1/completions', null],
    ['https://h', '/v1//evil.example/chat/completions', null],
    ['http://h/v1', '/api/v0/chat/completions', '/api/v0'],
  ])('the API of upstream %s, asked for %s, begins at %s', (url, requestTarget, expected) => {
    expect(apiBase(parseUpstreamAddress(url), parseTarget(requestTarget))).toBe(expected)
  })

  test('the keys of a query can be taken alone', () => {
    expect(keysOfQuery('?a=%20&key=se+cret&b=+')).toBe('key=se+cret')
    expect(keysOfQuery('?%6Bey=1&monkey=2&KEY=3')).toBe('%6Bey=1&KEY=3')
    expect(keysOfQuery('')).toBe('')
  })

  test('a key in the query can be taken out without touching the rest', () => {
    expect(queryWithoutKey('?a=%20&key=secret&b=+')).toBe('?a=%20&b=+')
    expect(queryWithoutKey('?key=secret')).toBe('')
    expect(queryWithoutKey('?%6Bey=secret&a')).toBe('?a')
    expect(queryWithoutKey('?monkey=1')).toBe('?monkey=1')
    expect(queryWithoutKey('')).toBe('')
  })
})

// A run of slashes in the middle of a path was searched for its end once for each of its slashes: 60,000 of them, which fit
// into the head of one request from anybody, kept every other client waiting for six seconds. A million took half an hour.
describe('a path costs no more than its length', () => {
  const slashes = '/'.repeat(1_000_000)
  const address = parseUpstreamAddress('https://h/v1')

  test.each([
    ['slashes within it', `/v1/x${slashes}x/chat/completions`],
    ['slashes at its end', `/v1/x/chat/completions${slashes}`],
    ['slashes in its query', `/v1/x/chat/completions?${slashes}x`],
  ])('%s', (_, path) => {
    expect(routeOf('POST', path)).toMatchObject({ kind: 'conversation' })
    expect(apiBase(address, parseTarget(path))).toMatch(/^\/v1\/x/)
    expect(azureDeployment(path)).toBeNull()
  })

  test.each([
    ['percent signs', '%'],
    ['escapes', '%25'],
    ['escaped slashes', '%2f'],
    ['escaped dots', 'x%2e'],
    ['deployments', '/openai/deployments/x'],
    ['dots', 'a.'],
  ])('%s', (_, piece) => {
    const path = `/v1/${piece.repeat(100_000)}x/chat/completions`
    expect(routeOf('POST', parseTarget(path).path)).toMatchObject({ kind: 'conversation' })
    expect(azureDeployment(path)).toBe(piece.startsWith('/openai') ? 'x' : null)
  })

  test('of a hundred thousand parameters the keys are found', () => {
    expect(queryWithoutKey(`?${'a&'.repeat(100_000)}key=1`)).toBe(`?${'a&'.repeat(100_000).slice(0, -1)}`)
    expect(keysOfQuery(`?${'key=1&'.repeat(1_000)}a`)).toBe('key=1&'.repeat(1_000).slice(0, -1))
  })
})

test('which names are of this machine', () => {
  const own = 'localhost LOCALHOST. foldgate.localhost my_app.localhost 127.0.0.1 127.255.0.3 ::1 [::1]'
  expect(own.split(' ').filter((name) => !isLoopbackName(name))).toEqual([])
  // Those that end in `.localhost` are no names: each would have been one of this machine, since it ends like one.
  const others = wordsOf(`
    . localhost.. .localhost a..localhost localhost.example notlocalhost evil.example/x.localhost
    evil.example@x.localhost evil.example:80.localhost 127.0.0.999 127.0.0.01 127.0.1 127.0.0.1.example 0.0.0.0
    2130706433 0x7f.0.0.1 [::ffff:7f00:1] [::1 10.0.0.1
  `)
  expect(['', 'evil.example\t.localhost', ...others].filter(isLoopbackName)).toEqual([])
})
