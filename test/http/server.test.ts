import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/config/secret.ts'
import { FoldgateError } from '../../src/errors.ts'
import { ListenError, listen } from '../../src/http/listen.ts'
import { completion, events, fakeUpstream, json, silence } from '../support/fake-upstream.ts'
import { openRaw, rawExchange, readToEnd, readUntil, type RawAnswer } from '../support/raw-client.ts'
import { startProxy, type ProxyOptions } from './start-proxy.ts'
import { eventually } from '../support/eventually.ts'

const closing = 'Host: localhost\r\nConnection: close\r\n'

/** A request whose body has these transfer codings, the last of which is chunked. */
function chunked(codings: string): string {
  return `POST /v1/x HTTP/1.1\r\n${closing}Transfer-Encoding: ${codings}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`
}

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`
}

function codeOf(answer: RawAnswer): string | undefined {
  return /"code":"(\w+)"/.exec(answer.body.toString('utf8'))?.[1]
}

describe('routes', () => {
  test('chat completions go to the handler, under any prefix; everything else is relayed', async () => {
    await using upstream = await fakeUpstream(json({ relayed: true }))
    const handled: string[] = []
    await using proxy = await startProxy(`${upstream.origin}/base`, {
      handleConversation: async (exchange) => {
        handled.push(exchange.target.path + exchange.target.query)
        exchange.incoming.resume()
        exchange.outgoing.end('{"handled":true}')
      },
    })
    const chats = [
      '/v1/chat/completions',
      '/chat/completions/',
      '/openai/deployments/d/chat/completions?api-version=1',
    ]
    for (const path of chats) {
      const answer = await fetch(proxy.origin + path, { method: 'POST', body: '{}' })
      expect(await answer.json()).toEqual({ handled: true })
    }
    expect(handled).toEqual(chats)
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['GET', '/v1/chat/completions'],
      ['POST', '/v1/embeddings'],
      ['DELETE', '/v1/files/a'],
      ['PATCH', '/anything?x=1'],
    ] as const) {
      const answer = await fetch(proxy.origin + path, { method })
      expect(await answer.json()).toEqual({ relayed: true })
    }
    expect(upstream.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /base/models',
      'GET /base/chat/completions',
      'POST /base/embeddings',
      'DELETE /base/files/a',
      'PATCH /base/anything?x=1',
    ])
  })

  test('/u/NAME chooses an upstream; an unknown name is a 404', async () => {
    await using upstream = await fakeUpstream(json({ is: 'default' }))
    await using cheap = await fakeUpstream(json({ is: 'cheap' }))
    await using proxy = await startProxy(upstream.url, { upstreams: { cheap: { url: cheap.url } } })
    expect(await (await fetch(`${proxy.origin}/u/cheap/v1/models`)).json()).toEqual({ is: 'cheap' })
    expect(cheap.requests[0]?.url).toBe('/v1/models')
    const answer = await fetch(`${proxy.origin}/u/nobody/v1/models`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: 'unknown_upstream' } })
  })

  test('the probes answer locally, whatever the upstream does', async () => {
    await using upstream = await fakeUpstream(silence)
    await using proxy = await startProxy(upstream.url)
    expect((await fetch(`${proxy.origin}/healthz`)).status).toBe(200)
    const ready = await fetch(`${proxy.origin}/readyz?verbose`, { method: 'HEAD' })
    expect([ready.status, ready.headers.get('server')]).toEqual([200, 'foldgate'])
    expect(upstream.requests).toEqual([])
  })

  test('the probes are read only: what else goes to their paths is relayed', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url)
    await fetch(`${proxy.origin}/healthz`, { method: 'POST' })
    await fetch(`${proxy.origin}/v1/readyz`)
    expect(upstream.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
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
    expect([first.status, await first.json()]).toEqual([
      400,
      {
        error: {
          message: 'No such profile.',
          type: 'foldgate_error',
          param: 'x-foldgate-profile',
          code: 'unknown_profile',
        },
      },
    ])
    const second = await ask()
    expect(second.status).toBe(500)
    expect(await second.text()).not.toContain('secret')
  })

  test('a handler that throws in the middle of its answer cuts the connection', async () => {
    await using upstream = await fakeUpstream(silence)
    await using proxy = await startProxy(upstream.url, {
      handleConversation: async ({ outgoing }) => {
        outgoing.write('half')
        throw new Error('bug')
      },
    })
    const answer = await rawExchange(
      proxy.port,
      `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`,
    )
    expect(answer.body.toString()).not.toContain('0\r\n\r\n')
  })
})

// Node takes absolute-form targets and dot segments; a URL parser would resolve them to other hosts and paths.
describe('requests that could lead elsewhere are answered 400', () => {
  test.each([
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
  ])('%s', async (line) => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url)
    const answer = await rawExchange(proxy.port, `${line} HTTP/1.1\r\n${closing}\r\n`)
    expect(answer.statusLine).toContain(' 400 ')
    expect(['path_not_allowed', 'malformed_request']).toContain(codeOf(answer))
    expect(upstream.requests).toEqual([])
  })

  test('two lengths, or a length and a transfer coding, are no request (smuggling)', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url)
    for (const headers of [
      'Content-Length: 5\r\nContent-Length: 6\r\n',
      'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
      'Transfer-Encoding: chunked, identity\r\n',
    ]) {
      const answer = await rawExchange(proxy.port, `POST /v1/x HTTP/1.1\r\n${closing}${headers}\r\nhello`)
      expect(answer.statusLine).toContain(' 400 ')
    }
    expect(upstream.requests).toEqual([])
  })
})

// Node answers these itself, with an empty 400 and an empty 417: a client's SDK found nothing in them to show.
describe('what Node would refuse with an empty answer is refused in words', () => {
  test.each([
    ['no Host', '', 'malformed_request', 'host'],
    ['an expectation that nobody knows', 'Host: localhost\r\nExpect: foo\r\n', 'invalid_header', 'expect'],
  ])('%s', async (_, headers, code, param) => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url)
    const answer = await rawExchange(
      proxy.port,
      `POST /v1/chat/completions HTTP/1.1\r\n${headers}Connection: close\r\nContent-Length: 2\r\n\r\n{}`,
    )
    expect(answer.statusLine).toContain(' 400 ')
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      error: { type: 'foldgate_error', code, param },
    })
    expect(proxy.failures.map((failure) => failure.code)).toEqual([code])
    expect(upstream.requests).toEqual([])
  })

  test('HTTP/1.0 needs no Host', async () => {
    await using upstream = await fakeUpstream(json({ fine: true }))
    await using proxy = await startProxy(upstream.url)
    const answer = await rawExchange(proxy.port, 'GET /v1/models HTTP/1.0\r\n\r\n')
    expect(answer.statusLine).toContain(' 200 ')
    expect(answer.body.toString()).toContain('fine')
  })
})

// Node's parser takes each of these for a request. The first three were relayed although they name no host; of two hosts
// the first was believed, and whoever stands in front of Foldgate may have believed the other.
describe('what only Node takes for HTTP/1.1 is refused', () => {
  test.each([
    ['a request line without a version', 'GET /v1/x\r\n\r\n', null],
    ['HTTP/0.9 by name', 'GET /v1/x HTTP/0.9\r\n\r\n', null],
    ['HTTP/2.0', 'POST /v1/chat/completions HTTP/2.0\r\nContent-Length: 2\r\n\r\n{}', null],
    ['two hosts', `GET /v1/x HTTP/1.1\r\n${closing}Host: other\r\n\r\n`, 'host'],
    ['two hosts in HTTP/1.0', 'GET /v1/x HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n', 'host'],
    // Its chunks were undone and the rest sent on as if nothing had been applied: another body than the client's.
    ['a coding besides chunks', chunked('gzip, chunked'), 'transfer-encoding'],
    ['a coding in two lines', chunked('gzip\r\nTransfer-Encoding: chunked'), 'transfer-encoding'],
    ['chunks in HTTP/1.0', chunked('chunked').replace('1.1', '1.0'), 'transfer-encoding'],
  ])('%s', async (_, bytes, param) => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url)
    const answer = await rawExchange(proxy.port, bytes)
    expect(answer.statusLine).toContain(' 400 ')
    expect(JSON.parse(answer.body.toString())).toMatchObject({ error: { code: 'malformed_request', param } })
    expect(upstream.requests).toEqual([])
  })
})

// The first word of nonsense behind a request cut the connection, and with it the answer to a request that was in order:
// a client whose third request was bad got no answer to the two before it either.
describe('whatever follows a whole request, that one is answered', () => {
  test.each([
    ['nonsense', [get('/v1/a'), 'nonsense\r\n\r\n'], 1],
    ['nonsense behind two', [get('/v1/a'), get('/v1/b'), 'nonsense\r\n\r\n', get('/v1/c')], 2],
    ['a request behind the last one', [get('/v1/a', 'Connection: close\r\n'), get('/v1/b')], 1],
    ['chunks that are none', [get('/v1/a'), chunked('chunked').replace('2\r\n', 'nothing\r\n')], 1],
    ['what is refused', [get('/v1/a'), chunked('gzip, chunked'), get('/v1/b')], 1],
    ['nonsense in many pieces', [get('/v1/a'), ...Array.from({ length: 30 }, () => 'no ')], 1],
  ])('%s', async (_, pieces, answered) => {
    const { promise: isSent, resolve: sent } = Promise.withResolvers<void>()
    await using upstream = await fakeUpstream(async (...exchange) => {
      await isSent
      await json({ fine: true })(...exchange)
    })
    await using proxy = await startProxy(upstream.url)
    const socket = await openRaw(proxy.port)
    const got = readToEnd(socket)
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    }
    await eventually(() => expect(upstream.requests).toHaveLength(answered))
    sent()
    expect((await got).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(answered)
    expect(upstream.requests).toHaveLength(answered)
  })
})

// The rest of an upload that was refused is read and dropped. Where it broke off in nonsense a second answer followed the
// first, to a request that nobody made.
test('a refused upload that turns into nonsense has one answer', async () => {
  await using upstream = await fakeUpstream(json({}))
  await using proxy = await startProxy(upstream.url)
  const upload =
    'POST /u/nobody/v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'
  const socket = await openRaw(proxy.port, upload)
  const got = readToEnd(socket)
  await readUntil(socket, 'unknown_upstream')
  socket.write('nonsense')
  expect((await got).match(/HTTP\/1\.1 /g)).toHaveLength(1)
})

test('a body in chunks that are none is refused in words', async () => {
  await using upstream = await fakeUpstream(json({}))
  await using proxy = await startProxy(upstream.url)
  const answer = await rawExchange(proxy.port, chunked('chunked').replace('2\r\n', 'nothing\r\n'))
  expect(codeOf(answer)).toBe('malformed_request')
  expect(upstream.requests).toEqual([])
})

describe('upgrades', () => {
  test('a WebSocket is a 426', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url)
    const answer = await rawExchange(
      proxy.port,
      'GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n',
    )
    expect(answer.statusLine).toContain(' 426 ')
    expect(codeOf(answer)).toBe('upgrade_not_supported')
  })

  // Java's HttpClient offers HTTP/2 with every first request over plain HTTP; refusing it would lock Java out.
  test('an offer of h2c is ignored', async () => {
    await using upstream = await fakeUpstream(completion('hello'))
    await using proxy = await startProxy(upstream.url)
    const answer = await rawExchange(
      proxy.port,
      'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nContent-Length: 2\r\n\r\n{}',
    )
    expect(answer.statusLine).toContain(' 200 ')
    expect(upstream.requests[0]?.headers['upgrade']).toBeUndefined()
  })
})

describe('on loopback', () => {
  const held: ProxyOptions = {
    guardsPages: true,
    corsOrigins: ['http://app.example'],
    hosts: ['foldgate.lan', 'fe80::1'],
  }

  test.each([
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
    [
      "a page of this machine's other server",
      { host: 'localhost:3653', origin: 'http://localhost:8080' },
      403,
    ],
    ['a page that only begins so', { host: 'localhost:3653', origin: 'http://localhost:36530' }, 403],
    ['a page by another scheme', { host: 'localhost:3653', origin: 'ftp://localhost:3653' }, 403],
    [
      'a page under a listed name of another scheme',
      { host: 'localhost', origin: 'https://app.example' },
      403,
    ],
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
  ])('answers %s: %o with %i', async (_name, headers, status) => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url, {
      ...held,
      upstreams: { default: { url: upstream.url, key: () => 'secret' } },
    })
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const answer = await rawExchange(
      proxy.port,
      `GET /v1/models HTTP/1.1\r\nConnection: close\r\n${lines.join('')}\r\n`,
    )
    expect(answer.statusLine).toContain(` ${status} `)
    const forwarded = upstream.requests.map((request) => request.headers.authorization)
    expect(forwarded).toEqual(status === 200 ? ['Bearer secret'] : [])
  })

  // What needs no preflight comes without one: the guard is all that stands before the key.
  test.each([
    ['a form', 'POST', 'content-type: application/x-www-form-urlencoded'],
    ['a beacon', 'POST', 'content-type: text/plain;charset=UTF-8'],
    ['a preflight', 'OPTIONS', 'access-control-request-method: POST'],
    ['a preflight from the internet', 'OPTIONS', 'access-control-request-private-network: true'],
    ['a deletion', 'DELETE', 'accept: */*'],
  ])('%s of another site gets neither upstream nor leave to go on', async (_name, method, line) => {
    await using upstream = await fakeUpstream(json({}, 200, { 'access-control-allow-origin': '*' }))
    await using proxy = await startProxy(upstream.url, {
      ...held,
      upstreams: { default: { url: upstream.url, key: () => 'secret' } },
    })
    for (const path of ['/v1/chat/completions', '/v1/files/a', '/u/default/v1/responses']) {
      const answer = await rawExchange(
        proxy.port,
        `${method} ${path} HTTP/1.1\r\n${closing}Origin: https://evil.example\r\n${line}\r\nContent-Length: 2\r\n\r\n{}`,
      )
      expect([answer.statusLine, codeOf(answer)]).toEqual([
        expect.stringContaining(' 403 '),
        'origin_not_allowed',
      ])
      expect(answer.headers.join('\n').toLowerCase()).not.toContain('access-control-')
    }
    expect(upstream.requests).toEqual([])
  })

  test('off loopback any name and origin is served', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url, { guardsPages: false })
    const answer = await rawExchange(
      proxy.port,
      'GET /v1/models HTTP/1.1\r\nHost: foldgate:3653\r\nOrigin: http://a\r\nConnection: close\r\n\r\n',
    )
    expect(answer.statusLine).toContain(' 200 ')
  })

  test('client keys: the right one is let in by name and never forwarded', async () => {
    await using upstream = await fakeUpstream(json({}))
    const names: (string | null)[] = []
    const anything = { upstreams: ['*'], profiles: ['*'], overrides: [] }
    await using proxy = await startProxy(upstream.url, {
      upstreams: { default: { url: upstream.url } },
      clientKeys: [
        { ...anything, name: 'first', keys: () => [new Secret('fg-1')] },
        { ...anything, name: 'second', keys: () => [new Secret('fg-2')] },
      ],
      handleConversation: async (exchange) => {
        names.push(exchange.clientKeyName)
        exchange.outgoing.end('{}')
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
    await using upstream = await fakeUpstream(
      json({}, 200, { 'access-control-allow-origin': 'http://other' }),
    )
    await using proxy = await startProxy(upstream.url, { corsOrigins: ['http://app.example'] })
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
    expect(upstream.requests).toEqual([])

    const answer = await fetch(`${proxy.origin}/v1/models`, { headers: { origin: 'http://app.example' } })
    expect(answer.headers.get('access-control-allow-origin')).toBe('http://app.example')
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
    // A page could not read why a summary is missing, nor what a profile that only observes would have done.
    for (const name of ['action', 'repairs', 'observed', 'summary', 'summary-reason', 'attempts'])
      expect(exposed).toContain(`x-foldgate-${name}`)

    const refused = await fetch(`${proxy.origin}/v1/../x`.replace('/v1/../', '/u/nobody/'), {
      headers: { origin: 'http://app.example' },
    })
    expect(refused.status).toBe(404)
    expect(refused.headers.get('access-control-allow-origin')).toBe('http://app.example')
  })

  test('without origins, preflights are the upstream’s to answer', async () => {
    await using upstream = await fakeUpstream(
      json({}, 200, { 'access-control-allow-origin': 'http://other' }),
    )
    await using proxy = await startProxy(upstream.url)
    const headers = { origin: 'http://other', 'access-control-request-method': 'POST' }
    const answer = await fetch(`${proxy.origin}/v1/x`, { method: 'OPTIONS', headers })
    expect(answer.headers.get('access-control-allow-origin')).toBe('http://other')
    expect(upstream.requests[0]?.method).toBe('OPTIONS')
  })
})

describe('limits', () => {
  test('too many requests at once: 503 with retry-after; the probes still answer', async () => {
    await using upstream = await fakeUpstream(silence)
    await using proxy = await startProxy(upstream.url, { limits: { concurrent: 1 } })
    const socket = await openRaw(proxy.port, 'GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await eventually(() => expect(upstream.requests.length).toBe(1))
    const answer = await fetch(`${proxy.origin}/v1/x`)
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.json()).toMatchObject({ error: { code: 'overloaded' } })
    expect((await fetch(`${proxy.origin}/healthz`)).status).toBe(200)
    socket.destroy()
    await eventually(() => expect(proxy.lifecycle.running).toBe(0))
  })

  test('headers that do not arrive: 408', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url, { limits: { headersMs: 100 } })
    const answer = await rawExchange(proxy.port, 'GET /v1/x HTTP/1.1\r\nHost: loc')
    expect(answer.statusLine).toContain(' 408 ')
    expect(codeOf(answer)).toBe('headers_timeout')
  })

  test('headers that are too large: 431; no HTTP at all: 400', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url)
    const large = await rawExchange(proxy.port, `GET /v1/x HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`)
    expect(codeOf(large)).toBe('headers_too_large')
    const nonsense = await rawExchange(proxy.port, 'SSH-2.0-hello\r\n\r\n')
    expect(codeOf(nonsense)).toBe('malformed_request')
  })

  test('a refused upload is answered although the client is still sending', async () => {
    await using upstream = await fakeUpstream(json({}))
    await using proxy = await startProxy(upstream.url)
    const body = randomBytes(3_000_000)
    const answer = await fetch(`${proxy.origin}/u/nobody/v1/files`, { method: 'POST', body })
    expect(answer.status).toBe(404)
  })
})

describe('listening', () => {
  test('a taken port names the flag', async () => {
    await using upstream = await fakeUpstream(silence)
    await using proxy = await startProxy(upstream.url)
    await using other = await startProxy(upstream.url)
    other.server.close()
    const failed = listen(
      other.server,
      { host: '127.0.0.1', port: proxy.port },
      { host: '--host', port: '--port (FOLDGATE_PORT)' },
    )
    await expect(failed).rejects.toThrow(ListenError)
    await expect(failed).rejects.toThrow(`Port ${proxy.port} on 127.0.0.1 is taken`)
    await expect(failed).rejects.toThrow('--port (FOLDGATE_PORT)')
  })
})

describe('the drain', () => {
  test('is announced at once, serves newcomers during the delay, and lets running requests finish', async () => {
    const answering: ServerResponse[] = []
    await using upstream = await fakeUpstream((request, outgoing, incoming) => {
      if (!request.url.endsWith('slow')) return json({ ok: true })(request, outgoing, incoming)
      outgoing.write('first ')
      answering.push(outgoing)
      return undefined
    })
    await using proxy = await startProxy(upstream.url)
    const slow = await fetch(`${proxy.origin}/v1/slow`)
    const drained = proxy.lifecycle.drain(proxy.server, { delayMs: 300, timeoutMs: 20_000 })
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
    await using upstream = await fakeUpstream(json({ ok: true }))
    await using proxy = await startProxy(upstream.url)
    expect((await fetch(`${proxy.origin}/readyz`)).status).toBe(200)
    proxy.lifecycle.leave()
    expect((await fetch(`${proxy.origin}/readyz`)).status).toBe(503)
    expect(await (await fetch(`${proxy.origin}/v1/x`)).json()).toEqual({ ok: true })
    expect(await proxy.lifecycle.drain(proxy.server, { delayMs: 0, timeoutMs: 1_000 })).toBe(0)
  })

  test('a request that does not finish in time is cut off, and counted', async () => {
    await using upstream = await fakeUpstream(events(['data: 1\n\n'], 'never'))
    await using proxy = await startProxy(upstream.url)
    const socket = await openRaw(proxy.port, 'GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await readUntil(socket, 'data: 1')
    expect(await proxy.lifecycle.drain(proxy.server, { delayMs: 0, timeoutMs: 50 })).toBe(1)
    await eventually(() => expect(upstream.requests[0]?.left).toBe(true))
  })

  test('on a connection that was kept open, a request after the delay is told to go elsewhere', async () => {
    await using upstream = await fakeUpstream(events(['data: 1\n\n'], 'never'))
    await using proxy = await startProxy(upstream.url)
    const busy = await openRaw(proxy.port, 'GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await readUntil(busy, 'data: 1')
    const late = await openRaw(proxy.port, 'GET /v1/y HTTP/1.1\r\nHost: loc')
    const drained = proxy.lifecycle.drain(proxy.server, { delayMs: 0, timeoutMs: 1_000 })
    await eventually(() => expect(proxy.lifecycle.phase).toBe('closing'))
    late.write('alhost\r\n\r\n')
    expect(await readUntil(late, '"draining"')).toMatch(/503[^]*retry-after/)
    busy.destroy()
    await drained
  })
})
