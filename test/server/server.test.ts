import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/config/secret.ts'
import { FoldgateError } from '../../src/errors.ts'
import { listen, ListenError } from '../../src/server/listeners.ts'
import { completion, events, fakeUpstream, json, silence } from '../support/fake-upstream.ts'
import { openRaw, type RawAnswer, rawExchange, readToEnd, readUntil } from '../support/raw-client.ts'
import { proxyBefore, type ProxyOptions, startProxy, textAnswer } from './start-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'

const closing = 'Host: localhost\r\nConnection: close\r\n'

/** A request whose body has these transfer codings, the last of which is chunked. */
const chunked = (codings: string): string =>
  `POST /v1/x HTTP/1.1\r\n${closing}Transfer-Encoding: ${codings}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`

const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`

/** A post with these header lines, and what of its body comes at once. */
const posted = (path: string, lines: string, body = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n\r\n${body}`

const codeOf = (answer: RawAnswer): string | undefined =>
  /"code":"(\w+)"/.exec(answer.body.toString('utf8'))?.[1]

describe('routes', () => {
  test('conversations go to the handler with their target; everything else is relayed', async () => {
    const handled: string[] = []
    await using proxy = await proxyBefore(json({ relayed: true }), {
      handleConversation: async (exchange) => {
        handled.push(exchange.target.path + exchange.target.query)
        await exchange.body.read()
        return textAnswer('{"handled":true}')
      },
    })
    const chat = '/openai/deployments/d/chat/completions?api-version=1'
    const answer = await fetch(proxy.origin + chat, { method: 'POST', body: '{}' })
    expect([await answer.json(), handled]).toEqual([{ handled: true }, [chat]])
    for (const [method, path] of [
      ['GET', '/v1/chat/completions'],
      ['POST', '/v1/embeddings'],
      ['DELETE', '/v1/files/a'],
      ['PATCH', '/v1/anything?x=1'],
    ] as const) {
      expect(await (await fetch(proxy.origin + path, { method })).json()).toEqual({ relayed: true })
      const last = proxy.upstream.requests.at(-1)
      expect([last?.method, last?.url]).toEqual([method, path])
    }
  })

  test('the probes answer locally, and are read only: what else goes to their paths is relayed', async () => {
    await using proxy = await proxyBefore(json({}))
    expect((await fetch(`${proxy.origin}/healthz`)).status).toBe(200)
    const ready = await fetch(`${proxy.origin}/readyz?verbose`, { method: 'HEAD' })
    expect([ready.status, ready.headers.get('server')]).toEqual([200, 'foldgate'])
    expect(proxy.upstream.requests).toEqual([])
    await fetch(`${proxy.origin}/healthz`, { method: 'POST' })
    await fetch(`${proxy.origin}/v1/readyz`)
    expect(proxy.upstream.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /healthz',
      'GET /v1/readyz',
    ])
  })

  test('what a handler throws becomes an answer in the shape that OpenAI clients read', async () => {
    await using upstream = await fakeUpstream(silence)
    const thrown: unknown[] = [
      new FoldgateError('unknown_profile', 'No such profile.', { param: 'x-foldgate-profile' }),
      new TypeError('a secret detail'),
    ]
    await using proxy = await startProxy(upstream.url, {
      handleConversation: async () => {
        throw thrown.shift()
      },
    })
    const ask = () => fetch(`${proxy.origin}/v1/chat/completions`, { method: 'POST', body: '{}' })
    const first = await ask()
    const error = { message: 'No such profile.', type: 'foldgate_error', param: 'x-foldgate-profile' }
    expect(first.status).toBe(400)
    expect(await first.json()).toEqual({ error: { ...error, code: 'unknown_profile' } })
    const second = await ask()
    expect(second.status).toBe(500)
    expect(await second.text()).not.toContain('secret')
  })
})

const malformed = '400 malformed_request'
const coded = `${malformed} transfer-encoding`
const noChunks = chunked('chunked').replace('2\r\n', 'nothing\r\n')

/** What is refused: why, its bytes, and `STATUS CODE PARAM` of the answer. */
const refusedBytes: readonly (readonly [why: string, bytes: string, answer: string])[] = [
  // Node takes absolute-form targets and dot segments; a URL parser would resolve them to other hosts and paths.
  ...[
    'GET http://evil.example/v1/models',
    'GET //evil.example/v1/models',
    'GET /v1/../admin',
    'GET /v1/%2e%2E/admin',
    'GET /v1/..%2fadmin',
    'GET /v1\\..\\admin',
    'GET /x/../healthz',
    'GET /healthz?x#y',
    'OPTIONS *',
    'CONNECT evil.example:443',
  ].map((line) => [line, `${line} HTTP/1.1\r\n${closing}\r\n`, '400 path_not_allowed null'] as const),
  // Node answers these itself, with an empty 400 and an empty 417: a client's SDK found nothing in them to show.
  ['no Host', 'GET /v1/x HTTP/1.1\r\nConnection: close\r\n\r\n', `${malformed} host`],
  [
    'an expectation that nobody knows',
    `GET /v1/x HTTP/1.1\r\n${closing}Expect: foo\r\n\r\n`,
    '400 invalid_header expect',
  ],
  // Node's parser takes each of these for a request. The first three were relayed although they name no host; of two
  // hosts the first was believed, and whoever stands in front of Foldgate may have believed the other.
  ['a request line without a version', 'GET /v1/x\r\n\r\n', `${malformed} null`],
  ['HTTP/0.9 by name', 'GET /v1/x HTTP/0.9\r\n\r\n', `${malformed} null`],
  ['HTTP/2.0', 'POST /v1/chat/completions HTTP/2.0\r\nContent-Length: 2\r\n\r\n{}', `${malformed} null`],
  ['two hosts', get('/v1/x', closing), `${malformed} host`],
  ['two hosts in HTTP/1.0', 'GET /v1/x HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n', `${malformed} host`],
  // Its chunks were undone and the rest sent on as if nothing had been applied: another body than the client's.
  ['a coding besides chunks', chunked('gzip, chunked'), coded],
  ['a coding in two lines', chunked('gzip\r\nTransfer-Encoding: chunked'), coded],
  ['chunks in HTTP/1.0', chunked('chunked').replace('1.1', '1.0'), coded],
  ['chunks that are none', noChunks, `${malformed} null`],
  ['headers that are too large', get('/v1/x', `X: ${'x'.repeat(70_000)}\r\n`), '431 headers_too_large null'],
  ['no HTTP at all', 'SSH-2.0-hello\r\n\r\n', `${malformed} null`],
  [
    'a WebSocket',
    get('/v1/realtime', 'Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n'),
    '426 upgrade_not_supported upgrade',
  ],
]

test('what could lead elsewhere, and what only Node takes for HTTP/1.1, is refused in words', async () => {
  await using proxy = await proxyBefore(json({}))
  const answers = []
  for (const [why, bytes] of refusedBytes) {
    const { statusLine, body } = await rawExchange(proxy.port, bytes)
    const { error }: { error: Record<string, string | null> } = JSON.parse(body.toString())
    expect(error['type']).toBe('foldgate_error')
    answers.push([why, `${statusLine.slice(9, 12)} ${error['code']} ${error['param']}`])
  }
  expect(answers).toEqual(refusedBytes.map(([why, , answer]) => [why, answer]))
  expect(proxy.failures.length).toBeGreaterThan(10)
  expect(proxy.upstream.requests).toEqual([])
})

// The first word of nonsense behind a request cut the connection, and with it the answer to a request that was in order:
// a client whose third request was bad got no answer to the two before it either.
describe('whatever follows a whole request, that one is answered', () => {
  test.each([
    ['nonsense', [get('/v1/a'), 'nonsense\r\n\r\n'], 1],
    ['nonsense behind two', [get('/v1/a'), get('/v1/b'), 'nonsense\r\n\r\n', get('/v1/c')], 2],
    ['a request behind the last one', [get('/v1/a', 'Connection: close\r\n'), get('/v1/b')], 1],
    ['chunks that are none', [get('/v1/a'), noChunks], 1],
    ['what is refused', [get('/v1/a'), chunked('gzip, chunked'), get('/v1/b')], 1],
    ['nonsense in many pieces', [get('/v1/a'), ...Array.from({ length: 30 }, () => 'no ')], 1],
  ])('%s', async (_, pieces, answered) => {
    const { promise: isSent, resolve: sent } = Promise.withResolvers<void>()
    await using proxy = await proxyBefore(async () => {
      await isSent
      return json({ fine: true })
    })
    const socket = await openRaw(proxy.port)
    const got = readToEnd(socket)
    for (const piece of pieces) {
      socket.write(piece)
      await setImmediate()
    }
    await eventually(() => expect(proxy.upstream.requests).toHaveLength(answered))
    sent()
    expect((await got).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(answered)
    expect(proxy.upstream.requests).toHaveLength(answered)
  })
})

// Java's HttpClient offers HTTP/2 with every first request over plain HTTP; refusing it would lock Java out.
test('an offer of h2c is ignored, and HTTP/1.0 needs no Host', async () => {
  await using proxy = await proxyBefore(completion('hello'))
  const offer =
    'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB'
  for (const request of [
    posted('/v1/chat/completions', `${offer}\r\nContent-Length: 2`, '{}'),
    'GET /v1/models HTTP/1.0\r\n\r\n',
  ]) {
    const answer = await rawExchange(proxy.port, request)
    expect(answer.statusLine).toContain(' 200 ')
    expect(answer.body.toString()).toContain('hello')
  }
  expect(proxy.upstream.requests[0]?.headers['upgrade']).toBeUndefined()
})

describe('on loopback', () => {
  const held: ProxyOptions = {
    settings: {
      host: '127.0.0.1',
      cors: { origins: ['http://app.example'] },
      hosts: ['foldgate.lan', 'fe80::1'],
    },
  }

  const callers: readonly (readonly [who: string, headers: Record<string, string>, status: number])[] = [
    ['a rebound name', { host: 'evil.example:3653' }, 403],
    ['a name that begins like an address', { host: '127.0.0.1.evil.example' }, 403],
    ['a name that begins like localhost', { host: 'localhost.evil.example:3653' }, 403],
    ['a name that ends like localhost', { host: 'evillocalhost' }, 403],
    ['a user before a host', { host: 'localhost:3653@evil.example' }, 400],
    ['a host before a user', { host: 'evil.example:3653@localhost' }, 400],
    ['a path that ends like localhost', { host: 'evil.example/x.localhost' }, 400],
    ['a port that is none', { host: 'localhost:x' }, 400],
    ['no name', { host: '' }, 403],
    ['any address of this machine', { host: '0.0.0.0:3653' }, 403],
    ['an address in one number', { host: '2130706433:3653' }, 403],
    ['an address in hexadecimal', { host: '0x7f.0.0.1' }, 403],
    ['an address in octal', { host: '0177.0.0.1' }, 403],
    ['an address that is none', { host: '127.0.0.999' }, 403],
    ['an address of another machine', { host: '[::ffff:203.0.113.7]' }, 400],
    ['an IPv6 address with more behind it', { host: '[::1].evil.example' }, 400],
    ["another site's page", { host: 'localhost:3653', origin: 'http://evil.example' }, 403],
    ["another server's page", { host: 'localhost:3653', origin: 'http://localhost:8080' }, 403],
    ['a page that only begins so', { host: 'localhost:3653', origin: 'http://localhost:36530' }, 403],
    ['a page by another scheme', { host: 'localhost:3653', origin: 'ftp://localhost:3653' }, 403],
    ['a listed name of another scheme', { host: 'localhost', origin: 'https://app.example' }, 403],
    ['a page from a file', { host: 'localhost:3653', origin: 'null' }, 403],
    ['an empty origin', { host: 'localhost:3653', origin: '' }, 403],
    ["another site's image", { host: 'localhost', 'sec-fetch-site': 'cross-site' }, 403],
    // No origin is sent with an image, and a page at another port of this machine is `same-site`: it was let in.
    ["an image of this machine's other server", { host: 'localhost', 'sec-fetch-site': 'same-site' }, 403],
    ['a site that no browser names', { host: 'localhost', 'sec-fetch-site': 'CROSS-SITE' }, 403],
    ['no page at all', { host: '127.0.0.1:3653' }, 200],
    ['another address of this machine', { host: '127.8.9.10' }, 200],
    ['IPv6', { host: '[::1]:3653' }, 200],
    ['another spelling', { host: 'LocalHost.:3653' }, 200],
    ['a name below localhost', { host: 'foldgate.my_app.localhost:3653' }, 200],
    ['a listed name', { host: 'foldgate.lan:3653' }, 200],
    ['a listed name, spelt in full', { host: 'FOLDGATE.lan.' }, 200],
    ['a listed IPv6 address', { host: '[fe80::1]:3653' }, 200],
    ['a listed origin', { host: 'localhost', origin: 'http://app.example' }, 200],
    ['its own page', { host: 'localhost:3653', origin: 'http://localhost:3653' }, 200],
    ['what its user typed', { host: 'localhost:3653', 'sec-fetch-site': 'none' }, 200],
  ]

  test('names and pages of this machine, and those that are listed, are answered, and no others', async () => {
    const upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url, {
      ...held,
      upstreams: { default: { url: upstream.url, key: () => 'secret' } },
    })
    const answers = []
    for (const [who, headers] of callers) {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const answer = await rawExchange(
        proxy.port,
        `GET /v1/models HTTP/1.1\r\nConnection: close\r\n${lines.join('')}\r\n`,
      )
      answers.push([who, headers, Number(answer.statusLine.slice(9, 12))])
    }
    expect(answers).toEqual(callers)
    const answered = callers.filter(([, , status]) => status === 200)
    const forwarded = upstream.requests.map((request) => request.headers.authorization)
    expect(forwarded).toEqual(answered.map(() => 'Bearer secret'))
    await upstream.close()
  })

  // What needs no preflight comes without one: the guard is all that stands before the key.
  test('no form, beacon, preflight or deletion of another site gets upstream, or leave to go on', async () => {
    await using proxy = await proxyBefore(json({}, 200, { 'access-control-allow-origin': '*' }), held)
    for (const [method, line] of [
      ['POST', 'content-type: application/x-www-form-urlencoded'],
      ['POST', 'content-type: text/plain;charset=UTF-8'],
      ['OPTIONS', 'access-control-request-method: POST'],
      ['OPTIONS', 'access-control-request-private-network: true'],
      ['DELETE', 'accept: */*'],
    ] as const) {
      for (const path of ['/v1/chat/completions', '/v1/files/a', '/u/default/v1/responses']) {
        const answer = await rawExchange(
          proxy.port,
          `${method} ${path} HTTP/1.1\r\n${closing}Origin: https://evil.example\r\n${line}\r\nContent-Length: 2\r\n\r\n{}`,
        )
        const got = [line, path, answer.statusLine.slice(9, 12), codeOf(answer)]
        expect(got).toEqual([line, path, '403', 'origin_not_allowed'])
        expect(answer.headers.join('\n').toLowerCase()).not.toContain('access-control-')
      }
    }
    expect(proxy.upstream.requests).toEqual([])
  })

  test('client keys: the right one is let in by name and never forwarded', async () => {
    await using upstream = await fakeUpstream(json({}))
    const names: (string | null)[] = []
    const anything = { upstreams: ['*'], profiles: ['*'], overrides: [] }
    await using proxy = await startProxy(upstream.url, {
      settings: {
        client_keys: [
          { ...anything, name: 'first', key: { now: () => [new Secret('fg-1')] } },
          { ...anything, name: 'second', key: { now: () => [new Secret('fg-2')] } },
        ],
      },
      handleConversation: async (exchange) => {
        names.push(exchange.clientKeyName)
        return textAnswer('{}')
      },
    })
    const chat = `${proxy.origin}/v1/chat/completions`
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'Bearer ' }]) {
      const answer = await fetch(chat, { method: 'POST', headers })
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({ error: { code: 'client_key_required' } })
    }
    await fetch(chat, { method: 'POST', headers: { authorization: 'Bearer fg-2' } })
    await fetch(chat, { method: 'POST', headers: { 'api-key': 'fg-1' } })
    expect(names).toEqual(['second', 'first'])
    await fetch(`${proxy.origin}/v1/models?key=fg-1&a=1`)
    expect(upstream.requests[0]?.url).toBe('/v1/models?a=1')
  })
})

describe('CORS', () => {
  test('with origins, preflights are answered and our headers are shown to pages', async () => {
    await using proxy = await proxyBefore(json({}, 200, { 'access-control-allow-origin': 'http://other' }), {
      settings: { cors: { origins: ['http://app.example'] } },
    })
    const preflight = await fetch(`${proxy.origin}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin: 'http://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, x-stainless-os',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, x-stainless-os')
    expect(preflight.headers.get('access-control-allow-origin')).toBe('http://app.example')
    expect(proxy.upstream.requests).toEqual([])

    const answer = await fetch(`${proxy.origin}/v1/models`, { headers: { origin: 'http://app.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('http://app.example')
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
    // A page could not read why a summary is missing, nor what a profile that only observes would have done.
    for (const name of ['action', 'repairs', 'observed', 'summary', 'summary-reason', 'attempts'])
      expect(exposed).toContain(`x-foldgate-${name}`)

    const refused = await fetch(`${proxy.origin}/u/nobody/x`, { headers: { origin: 'http://app.example' } })
    expect(refused.status).toBe(404)
    expect(refused.headers.get('access-control-allow-origin')).toBe('http://app.example')
  })

  test('without origins, preflights are the upstream’s to answer', async () => {
    await using proxy = await proxyBefore(json({}, 200, { 'access-control-allow-origin': 'http://other' }))
    const headers = { origin: 'http://other', 'access-control-request-method': 'POST' }
    const answer = await fetch(`${proxy.origin}/v1/x`, { method: 'OPTIONS', headers })
    expect(answer.headers.get('access-control-allow-origin')).toBe('http://other')
    expect(proxy.upstream.requests[0]?.method).toBe('OPTIONS')
  })
})

describe('limits', () => {
  test('too many requests at once: 503 with retry-after; the probes still answer', async () => {
    await using proxy = await proxyBefore(silence, { limits: { concurrent: 1 } })
    const socket = await openRaw(proxy.port, get('/v1/x'))
    await eventually(() => expect(proxy.upstream.requests.length).toBe(1))
    // Before its body is sent.
    const second = await openRaw(proxy.port, posted('/v1/x', 'Content-Length: 1000000'))
    expect(await readUntil(second, '}}')).toMatch(
      /^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n[^]*limits\.concurrent[^]*"code":"overloaded"/i,
    )
    second.destroy()
    expect((await fetch(`${proxy.origin}/healthz`)).status).toBe(200)
    socket.destroy()
    await eventually(() => expect(proxy.lifecycle.running).toBe(0))
  })

  test('headers that do not arrive: 408', async () => {
    await using proxy = await proxyBefore(json({}), { limits: { headers_s: 0.1 } })
    const answer = await rawExchange(proxy.port, 'GET /v1/x HTTP/1.1\r\nHost: loc')
    expect(answer.statusLine).toContain(' 408 ')
    expect(codeOf(answer)).toBe('headers_timeout')
  })
})

test('listening a taken port names the flag', async () => {
  await using proxy = await proxyBefore(silence)
  await using other = await startProxy(proxy.upstream.url)
  other.server.close()
  const place = { host: '127.0.0.1', port: proxy.port }
  const countsOf = () => ['listening', 'error'].map((event) => other.server.listenerCount(event))
  const before = countsOf()
  const failed = listen(other.server, place, { host: '--host', port: '--port (FOLDGATE_PORT)' })
  await expect(failed).rejects.toThrow(ListenError)
  await expect(failed).rejects.toThrow(`Port ${proxy.port} on 127.0.0.1 is taken`)
  await expect(failed).rejects.toThrow('--port (FOLDGATE_PORT)')
  // Each try left one behind: who waits for a port was warned of a leak.
  expect(countsOf()).toEqual(before)
})

describe('the drain', () => {
  test('is announced at once, serves newcomers during the delay, and lets running requests finish', async () => {
    const answering: ServerResponse[] = []
    await using proxy = await proxyBefore((request, outgoing) => {
      if (!request.url.endsWith('slow')) return json({ ok: true })
      outgoing.write('first ')
      answering.push(outgoing)
      return undefined
    })
    const slow = await fetch(`${proxy.origin}/v1/slow`)
    const drained = proxy.lifecycle.drain([proxy.server], 300, 20_000)
    const ready = await fetch(`${proxy.origin}/readyz`)
    expect(ready.status).toBe(503)
    expect((await fetch(`${proxy.origin}/healthz`)).status).toBe(200)
    const newcomer = await fetch(`${proxy.origin}/v1/x`)
    expect(await newcomer.json()).toEqual({ ok: true })
    expect(newcomer.headers.get('connection')).toBe('close')
    await eventually(() => expect(proxy.lifecycle.phase).toBe('closing'))
    await expect(fetch(`${proxy.origin}/v1/x`)).rejects.toThrow('fetch failed')
    answering[0]?.end('last')
    expect(await slow.text()).toBe('first last')
    expect(await drained).toBe(0)
  })

  // The signal came while the start still wrote where it runs: until that was done, load balancers were told `ready`.
  test('can be announced before it begins: then it is not ready, and serves whoever comes', async () => {
    await using proxy = await proxyBefore(json({ ok: true }))
    expect((await fetch(`${proxy.origin}/readyz`)).status).toBe(200)
    proxy.lifecycle.leave()
    expect((await fetch(`${proxy.origin}/readyz`)).status).toBe(503)
    expect(await (await fetch(`${proxy.origin}/v1/x`)).json()).toEqual({ ok: true })
    expect(await proxy.lifecycle.drain([proxy.server], 0, 1_000)).toBe(0)
  })

  test('on a connection that was kept open, a late request is told to go elsewhere; what does not finish is cut off, and counted', async () => {
    await using proxy = await proxyBefore(events(['data: 1\n\n'], 'never'))
    const busy = await openRaw(proxy.port, get('/v1/x'))
    await readUntil(busy, 'data: 1')
    const late = await openRaw(proxy.port, 'GET /v1/y HTTP/1.1\r\nHost: loc')
    const drained = proxy.lifecycle.drain([proxy.server], 0, 500)
    await eventually(() => expect(proxy.lifecycle.phase).toBe('closing'))
    late.write('alhost\r\n\r\n')
    expect(await readUntil(late, '"draining"')).toMatch(/503[^]*retry-after/)
    expect(await drained).toBe(1)
    await eventually(() => expect(proxy.upstream.requests[0]?.left).toBe(true))
  })
})

const PIECE = Buffer.alloc(64 * 1024, 46)
const PIECES = 32

// A client that says `Connection: close` lost the answer to an upload that was refused: the connection was closed with
// the answer, what the client went on sending met a closed one, and its machine dropped what it had not read yet.
describe('an upload that is refused is read on, so that the client gets to its answer', () => {
  test.each(['keep-alive', 'close'])('Connection: %s', async (connection) => {
    await using proxy = await proxyBefore(json({}))
    const lines = `Connection: ${connection}\r\nContent-Length: ${PIECE.length * PIECES}`
    const socket = await openRaw(proxy.port, posted('/u/nobody/v1/files', lines))
    const problems: Error[] = []
    socket.on('error', (error) => problems.push(error))
    // It reads when it has sent everything, as many clients do.
    socket.pause()
    for (let piece = 0; piece < PIECES; piece += 1) {
      if (!socket.write(PIECE)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
      // The answer is there before most of it is sent.
      if (piece === 0) await eventually(() => expect(proxy.failures).toHaveLength(1))
      await setImmediate()
    }
    const [answer] = await Promise.race([once(socket.resume(), 'data'), once(socket, 'close')])
    expect(problems).toEqual([])
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 [^]*"code":"unknown_upstream"/)
    socket.destroy()
  })

  // Whoever was refused, and went on sending, took a place from those who were not.
  test.each(['keep-alive', 'close'])('and takes no place meanwhile, Connection: %s', async (connection) => {
    await using proxy = await proxyBefore(json({ fine: true }), { limits: { concurrent: 1 } })
    const socket = await openRaw(
      proxy.port,
      posted('/u/nobody/v1/files', `Connection: ${connection}\r\nContent-Length: 4`),
    )
    await once(socket, 'data')
    await eventually(() => expect(proxy.lifecycle.running).toBe(0))
    expect(socket.readableEnded).toBe(false)
    expect((await fetch(`${proxy.origin}/v1/x`)).status).toBe(200)
    socket.destroy()
  })

  // A connection with nonsense behind the upload stayed open, or had a second answer, to a request that nobody made.
  test.each([
    ['what is no request behind it ends the connection', 'Content-Length: 4', 'fournonsense\r\n\r\n'],
    ['one that turns into nonsense has one answer', 'Transfer-Encoding: chunked', '5\r\nhello\r\nnonsense'],
    ['one that said it would close is closed when read', 'Connection: close\r\nContent-Length: 4', 'four'],
  ])('and %s', async (_, lines, rest) => {
    await using proxy = await proxyBefore(json({}))
    const socket = await openRaw(proxy.port, posted('/u/nobody/v1/files', lines))
    const got = readToEnd(socket)
    await readUntil(socket, 'unknown_upstream')
    socket.write(rest)
    expect((await got).match(/HTTP\/1\.1 /g)).toHaveLength(1)
    expect(proxy.upstream.requests).toEqual([])
  })
})
