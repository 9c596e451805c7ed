import { describe, expect, test } from 'vitest'
import { openRaw, type RawAnswer, rawExchange } from '../support/raw-client.ts'
import { completion } from '../support/fake-upstream.ts'
import { standWith } from '../support/stand.ts'
import { adminStand } from './admin-stand.ts'
import { type AdminAnswer, adminPlace, askAdmin, deleteConversation } from './ask-admin.ts'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { challengeFor, requireToken } from '../../src/admin/admin.ts'

const id = 'abcdefgh-_012345'

/** Every path that the admin listener has. */
const surface = [
  ['GET', '/'],
  ['GET', '/metrics'],
  ['GET', '/events'],
  ['GET', '/changes'],
  ['GET', '/conversations'],
  ['GET', `/conversations/${id}`],
  ['GET', '/models'],
  ['GET', '/assets/page.js'],
  ['POST', '/explain'],
  ['POST', `/conversations/${id}/compact`],
  ['DELETE', `/conversations/${id}`],
  ['DELETE', `/models/${id}`],
] as const

/** And what is nowhere: nobody is to learn which is which. */
const anywhere = [...surface, ['GET', '/nothing'], ['OPTIONS', '/'], ['HEAD', '/'], ['PUT', '/']] as const

const codeOf = (answer: RawAnswer): string | undefined =>
  /"code":"(\w+)"/.exec(answer.body.toString('utf8'))?.[1]

/** A request with these header lines, spelt out: fetch sets `Host` and `Origin` itself. */
function spelt(method: string, target: string, ...lines: readonly string[]): Buffer {
  const head = [`${method} ${target} HTTP/1.1`, ...lines, 'Connection: close']
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1')
}

const deletion = (...lines: readonly string[]): Buffer => spelt('DELETE', `/conversations/${id}`, ...lines)

const headersOf = ({ header }: AdminAnswer, wanted: object) =>
  Object.fromEntries(Object.keys(wanted).map((name) => [name, header(name)]))

describe('only what is listed answers', () => {
  const harmless = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

  test('each with what it says, not to be kept and not to be taken for anything else', async () => {
    await using at = await adminStand()
    const conversation = await at.say('hello')
    await expect.poll(async () => (await at.ask(`/conversations/${conversation}`)).status).toBe(200)
    for (const [path, type] of [
      ['/', /^text\/html/],
      ['/metrics', /^text\/plain; version=0\.0\.4/],
      ['/events', /^application\/json/],
      ['/conversations', /^application\/json/],
      ['/models', /^application\/json/],
      [`/conversations/${conversation}`, /^application\/json/],
    ] as const) {
      const answer = await at.ask(path)
      expect([path, answer.status]).toEqual([path, 200])
      expect(answer.header('content-type')).toMatch(type)
      const wanted = { ...harmless, 'referrer-policy': 'no-referrer' }
      expect(headersOf(answer, wanted)).toEqual(wanted)
    }
    // Pages run and load nothing but their own, and stand in no frame.
    for (const path of ['/', `/conversations/${conversation}`]) {
      const answer = await at.ask(path, { headers: { accept: 'text/html' } })
      const policy = answer.header('content-security-policy') ?? ''
      expect(answer.header('content-type')).toMatch(/^text\/html/)
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
      expect(policy).not.toContain('unsafe')
    }
    // Metrics count what nobody reads as well.
    await fetch(`${at.url}/models`)
    const other = 'foldgate_requests_total{action="relayed",profile="",endpoint="other"} 1'
    await expect.poll(async () => (await at.ask('/metrics')).text).toContain(other)
  })

  test('everything else is a 404 in the shape of all errors, and nothing gets upstream', async () => {
    await using at = await adminStand()
    const [conversation, model] = [`/conversations/${id}`, `/models/${id}`]
    const nowhere = [
      `POST / /metrics ${conversation} /models /v1/chat/completions`,
      `GET ${conversation}/compact ${model} /explain /assets/nothing.js /u/default/metrics /healthz /readyz /v1/models`,
      `DELETE /conversations /conversations/ ${conversation}/more /models ${model}/more /v1${conversation}`,
      'OPTIONS /',
    ]
    const targets = nowhere.flatMap((line) => {
      const [method = '', ...paths] = line.split(' ')
      return paths.map((path) => [method, path] as const)
    })
    for (const [method, path] of targets) {
      const answer = await at.ask(path, { method })
      expect([method, path, answer.status, answer.code]).toEqual([method, path, 404, 'unknown_path'])
      const wanted = { ...harmless, 'content-type': 'application/json' }
      expect(headersOf(answer, wanted)).toEqual(wanted)
    }
    // Two that it has were not listed.
    const { text } = await at.ask('/nothing')
    for (const path of ['/savings', '/savings.csv']) {
      expect(text).toContain(` ${path},`)
      expect((await at.ask(path)).status).toBe(200)
    }
    // A URL parser would resolve them to the path of a deletion.
    for (const before of ['/x/..', '/x/%2e%2e', 'http://h']) {
      const target = `${before}/conversations/${id}`
      const answer = await rawExchange(at.port, spelt('DELETE', target, 'Host: localhost'))
      expect([target, codeOf(answer)]).toEqual([target, 'path_not_allowed'])
    }
    expect([at.deleted, at.upstream.requests]).toEqual([[], []])
  })

  test('no upload where none is wanted: neither a large body nor one of unknown length; large headers nowhere', async () => {
    await using at = await adminStand()
    for (const [method, path] of [
      ['DELETE', `/conversations/${id}`],
      ['DELETE', `/models/${id}`],
      ['POST', `/conversations/${id}/compact`],
    ] as const) {
      const large = await at.ask(path, { method, body: 'x'.repeat(100_000) })
      expect([large.status, large.code]).toEqual([413, 'body_too_large'])
      const chunked = spelt(method, path, 'Host: localhost', 'Transfer-Encoding: chunked')
      const answer = await rawExchange(at.port, Buffer.concat([chunked, Buffer.from('0\r\n\r\n')]))
      expect(codeOf(answer)).toBe('body_too_large')
    }
    const headers = deletion('Host: localhost', `X-Large: ${'x'.repeat(20_000)}`)
    expect(codeOf(await rawExchange(at.port, headers))).toBe('headers_too_large')
    expect(at.deleted).toEqual([])
    // Some clients send an empty object with everything.
    const small = await at.ask(`/conversations/${id}`, { method: 'DELETE', body: '{}' })
    expect(small.code).toBe('unknown_conversation')
  })

  test('a defect says nothing of itself', async () => {
    let isBroken = false
    await using at = await adminStand({
      nowMs: () => {
        if (isBroken) throw new TypeError('a secret detail')
        return Date.now()
      },
    })
    isBroken = true
    const answer = await at.ask('/')
    isBroken = false
    expect([answer.status, answer.code]).toEqual([500, 'internal_error'])
    expect(answer.text + at.foldgate.log.join('')).not.toContain('secret')
  })

  // Each upload that was broken off stood in the log as an error of Foldgate's own.
  test('a client that leaves in the middle of its body is nobody’s fault', async () => {
    await using at = await adminStand()
    const head = 'POST /explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{'
    const socket = await openRaw(at.port, head)
    await expect.poll(() => at.ask('/metrics').then(({ status }) => status)).toBe(200)
    socket.destroy()
    // What comes after it is answered when it is dealt with.
    await at.ask('/nothing')
    await expect.poll(() => at.foldgate.log.filter((line) => line.includes('unknown_path')).length).toBe(1)
    expect(at.foldgate.log.join('')).not.toContain('internal_error')
  })
})

describe('pages in the browser of the operator', () => {
  test('are refused on every path, the token or an open /metrics notwithstanding', async () => {
    await using at = await adminStand({ token: 'right', admin: { metrics: 'open' } })
    const [hosts, origins, sites] = [
      [
        'evil.example',
        '127.0.0.1.evil.example',
        '203.0.113.7',
        '0.0.0.0:3654',
        'localhost.evil.example',
        '2130706433',
      ],
      // Another program's page on this machine, among others.
      ['https://evil.example', 'null', 'http://localhost:3000', 'http://localhost', ''],
      // Images of that page, which is `same-site`, came with no origin, and were let in.
      ['cross-site', 'same-site'],
    ]
    for (const [lines, code] of [
      ...hosts.map((host) => [[`Host: ${host}`], 'host_not_allowed'] as const),
      ...origins.map(
        (origin) => [['Host: localhost:3654', `Origin: ${origin}`], 'origin_not_allowed'] as const,
      ),
      ...sites.map((site) => [['Host: localhost', `Sec-Fetch-Site: ${site}`], 'origin_not_allowed'] as const),
      [['Host: localhost@evil.example'], 'malformed_request'],
      [['Host: evil.example/x.localhost'], 'malformed_request'],
      [[], 'malformed_request'],
    ] as const) {
      for (const [method, path] of anywhere) {
        const request = spelt(method, path, ...lines, 'Authorization: Bearer right')
        const answer = await rawExchange(at.port, request)
        if (method === 'HEAD') expect(answer.statusLine).toMatch(/ (400|403) /)
        else expect([lines, method, path, codeOf(answer)]).toEqual([lines, method, path, code])
      }
    }
    expect(at.deleted).toEqual([])
  })

  test('are let in by names of this machine and those in hosts, and as its own pages', async () => {
    await using at = await adminStand({ settings: { hosts: ['foldgate.test'] } })
    const callers = [
      ['Host: localhost:3654'],
      ['Host: [::1]:3654'],
      ['Host: LOCALHOST.:3654'],
      ['Host: foldgate.test'],
      ['Host: localhost:3654', 'Origin: http://localhost:3654'],
      ['Host: localhost:3654', 'Sec-Fetch-Site: same-origin'],
      ['Host: localhost:3654', 'Sec-Fetch-Site: none'],
    ]
    for (const lines of callers) {
      const answer = await rawExchange(at.port, deletion(...lines))
      expect([lines, codeOf(answer)]).toEqual([lines, 'unknown_conversation'])
    }
    expect(at.deleted).toEqual(callers.map(() => id))
  })

  test('of another site may be left by a link to the page; nothing else is reached by a link', async () => {
    await using at = await adminStand()
    for (const [method, path, destination, status] of [
      ['GET', '/', 'document', '200'],
      ['GET', '/conversations', 'document', '200'],
      ['GET', '/', 'iframe', '403'],
      ['GET', '/events', 'script', '403'],
      ['POST', '/explain', 'document', '403'],
      ['POST', `/conversations/${id}/compact`, 'document', '403'],
      ['DELETE', `/conversations/${id}`, 'document', '403'],
    ] as const) {
      for (const site of ['cross-site', 'same-site']) {
        const lines = ['Host: localhost:3654', `Sec-Fetch-Site: ${site}`, 'Sec-Fetch-Mode: navigate']
        const request = spelt(method, path, ...lines, `Sec-Fetch-Dest: ${destination}`)
        const { statusLine } = await rawExchange(at.port, request)
        expect([method, path, site, statusLine.slice(9, 12)]).toEqual([method, path, site, status])
      }
    }
    expect(at.deleted).toEqual([])
  })

  test('a socket that a page opens gets nowhere', async () => {
    await using at = await adminStand()
    for (const [port, code] of [
      [at.port, 'origin_not_allowed'],
      [Number(new URL(at.url).port), 'upgrade_not_supported'],
    ] as const) {
      const lines = ['Host: localhost', 'Origin: https://evil.example', 'Upgrade: websocket']
      const answer = await rawExchange(port, spelt('GET', '/v1/realtime', ...lines))
      expect(codeOf(answer)).toBe(code)
    }
    expect(at.upstream.requests).toEqual([])
  })

  test('off loopback it goes by whatever name, and pages of other sites stay outside', async () => {
    await using at = await adminStand({ admin: { host: '0.0.0.0' }, token: 'right' })
    const right = 'Authorization: Bearer right'
    const named = await rawExchange(at.port, deletion('Host: foldgate.lan', right))
    expect(codeOf(named)).toBe('unknown_conversation')
    const foreign = deletion('Host: foldgate.lan', 'Origin: https://evil.example', right)
    expect(codeOf(await rawExchange(at.port, foreign))).toBe('origin_not_allowed')
  })
})

describe('the token', () => {
  test('is wanted of every request, on loopback too', async () => {
    await using at = await adminStand({ token: 'right' })
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': 'right' }]) {
      for (const [method, path] of anywhere) {
        const answer = await at.ask(path, { method, headers })
        expect([headers, method, path, answer.status]).toEqual([headers, method, path, 401])
        expect(answer.header('www-authenticate')).toBe('Bearer')
        if (method === 'HEAD') continue
        expect(answer.code).toBe('admin_token_required')
        expect(answer.text).toContain('admin.token_env')
      }
    }
    expect([at.deleted, at.upstream.requests]).toEqual([[], []])
    expect(at.foldgate.log.join('')).not.toContain('right')
  })

  test('lets in who has it; a browser is asked for it as a password', async () => {
    await using at = await adminStand({ token: 'right' })
    const password = `Basic ${Buffer.from('operator:right').toString('base64')}`
    for (const authorization of ['Bearer right', 'bearer  right', password]) {
      expect((await at.ask('/conversations', { headers: { authorization } })).status).toBe(200)
    }
    const asked = await at.ask('/', { headers: { accept: 'text/html' } })
    expect(asked.header('www-authenticate')).toMatch(/^Basic realm=/)
  })

  test('is not wanted for metrics that are open, and for them alone', async () => {
    await using at = await adminStand({ admin: { host: '0.0.0.0', metrics: 'open' }, token: 'right' })
    expect((await at.ask('/metrics')).status).toBe(200)
    expect((await at.ask('/metrics?x=1')).status).toBe(200)
    const others = [
      ['GET', '/u/x/metrics'],
      ['GET', '/metrics/'],
      ['POST', '/metrics'],
    ] as const
    for (const [method, path] of [...anywhere, ...others]) {
      if (path === '/metrics' && method === 'GET') continue
      expect([method, path, (await at.ask(path, { method })).status]).toEqual([method, path, 401])
    }
  })

  // A `Host` of Latin letters and a path, as long together as the name's spelling in ASCII, passed for a name: the router
  // read `/events` where the guard read `/metrics`, and let it in without the token.
  test('is wanted of whatever answers, not of what the request line says', async () => {
    await using at = await adminStand({ admin: { host: '0.0.0.0', metrics: 'open' }, token: 'right' })
    const [host, path] = ['éàüö/events?', '/metrics']
    const url = new URL(`http://${host}${path}`)
    expect([url.hostname.length, url.pathname]).toEqual([host.length, '/events'])
    const answer = await rawExchange(at.port, spelt('GET', path, `Host: ${host}`))
    expect(answer.statusLine).toMatch(/ 40[01] /)
    expect(answer.body.toString()).not.toContain('"events"')
  })
})

describe('beside the listener for clients', () => {
  test('its paths at their port are the upstream’s, like any other path', async () => {
    await using at = await adminStand()
    for (const [method, path] of surface) {
      const answer = await askAdmin(at.url, path, { method, ...(method === 'POST' && { body: '{}' }) })
      expect([method, path, answer.status, answer.code]).toEqual([method, path, 200, null])
      expect(answer.text).toContain('chatcmpl-1')
    }
    const sent = at.upstream.requests.map((request) => [request.method, request.url])
    expect(sent).toEqual(surface.map(([method, path]) => [method, `/v1${path}`]))
    expect(at.deleted).toEqual([])
  })

  test('it is there under its own port, and ends with the rest', async () => {
    const place = await adminPlace()
    await using at = await standWith(completion('fine'), { flags: place.flags })
    expect(at.foldgate.listening.admin).toEqual({ host: '127.0.0.1', port: place.port })
    expect((await deleteConversation(place.origin, id)).code).toBe('unknown_conversation')
    await at.foldgate.close()
    await expect(deleteConversation(place.origin, id)).rejects.toThrow('fetch failed')
    // Port 0 is none.
    await using none = await standWith(completion('fine'), { flags: { 'admin-port': '0' } })
    expect(none.foldgate.listening).toMatchObject({ admin: null, adminTrouble: null })
  })

  test.each([
    ['a taken port', '127.0.0.1', /taken.*--admin-port \(FOLDGATE_ADMIN_PORT\)/],
    ['a host that is none of this machine', '203.0.113.7', /--admin-host/],
  ])('%s costs the admin listener, nothing else', async (_, host, trouble) => {
    const place = await adminPlace()
    await using first = await standWith(completion('fine'), { flags: place.flags })
    await using second = await standWith(completion('fine'), {
      flags: { ...place.flags, 'admin-host': host },
      settings: { admin: { token_env: 'TOKEN' } },
      env: { TOKEN: 'right' },
    })
    expect(first.foldgate.listening.admin).not.toBeNull()
    expect(second.foldgate.listening.admin).toBeNull()
    expect(second.foldgate.listening.adminTrouble).toMatch(trouble)
    expect((await fetch(`${second.url}/models`)).status).toBe(200)
    // The first one's is still there.
    expect((await deleteConversation(place.origin, id)).status).toBe(404)
  })
})

function requestWith(headers: IncomingMessage['headers']): IncomingMessage {
  const incoming = new IncomingMessage(new Socket())
  Object.assign(incoming.headers, headers)
  return incoming
}

const basic = (pair: string): string => `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`

function isLetIn(authorization: string | undefined, token: string | null): boolean {
  try {
    requireToken(requestWith(authorization === undefined ? {} : { authorization }), token)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'admin_token_required', param: 'authorization' })
    expect(String(error)).not.toContain('right')
    return false
  }
}

const long = `Bearer ${'x'.repeat(10_000)}`

test.each<readonly [boolean, string | undefined, string | null]>([
  ...['Bearer right', 'bearer right', 'BEARER   right  '].map((text) => [true, text, 'right'] as const),
  ...[':right', 'anybody:right', 'ünï:right'].map((pair) => [true, basic(pair), 'right'] as const),
  // A name has no colon; whatever comes behind the first one is the password.
  [true, basic('a:b:c'), 'b:c'],
  [true, basic('a:pässwörd'), 'pässwörd'],
  [true, basic('a:right').replace('Basic', 'basic'), 'right'],
  // Everybody where there is none, and nobody where somebody made an empty token of it.
  [true, undefined, null],
  [true, 'Bearer whatever', null],
  [false, undefined, ''],
  [false, 'Bearer ', ''],
  ...[undefined, '', 'right', 'Bearer', 'Bearer ', 'Bearerright', 'Bearer righ', 'Bearer rightt'].map(
    (text) => [false, text, 'right'] as const,
  ),
  ...['Bearer RIGHT', 'Bearer right right', 'Bearer right, Bearer wrong', 'Token right', 'Basic right'].map(
    (text) => [false, text, 'right'] as const,
  ),
  ...['Basic !!!!', 'Basic', long].map((text) => [false, text, 'right'] as const),
  ...['right', 'right:', 'right:wrong', 'a:right '].map((pair) => [false, basic(pair), 'right'] as const),
])('lets in (%s) by %j where the token is %j', (isRight, authorization, token) => {
  expect(isLetIn(authorization, token)).toBe(isRight)
})

test('a browser is told to ask for a password, a program for the token', () => {
  const password = 'Basic realm="Foldgate", charset="UTF-8"'
  expect(challengeFor(requestWith({ accept: 'text/html,*/*' }))).toBe(password)
  expect(challengeFor(requestWith({ accept: 'application/json' }))).toBe('Bearer')
  expect(challengeFor(requestWith({}))).toBe('Bearer')
})
