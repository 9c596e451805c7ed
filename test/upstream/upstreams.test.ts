import { createServer as createTcpServer } from 'node:net'
import { createServer as createHttpServer } from 'node:http'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import { parseUpstreamAddress } from '../../src/upstream/address.ts'
import { createPools } from '../../src/upstream/pools.ts'
import { parseTarget } from '../../src/upstream/target.ts'
import type { Answer, UpstreamRequest, Upstreams } from '../../src/upstream/upstreams.ts'
import { bytes, events, fakeUpstream, json, silence } from '../support/fake-upstream.ts'
import { closeAll, listen } from '../support/free-port.ts'
import { upstreamsAt } from '../support/upstream-settings.ts'

const opened: Upstreams[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((upstreams) => upstreams.destroy()))
})

function open(...given: Parameters<typeof upstreamsAt>): Upstreams {
  const upstreams = upstreamsAt(...given)
  opened.push(upstreams)
  return upstreams
}

const request = (given: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  upstream: null,
  method: 'POST',
  target: parseTarget('/v1/chat/completions'),
  rawHeaders: [],
  withholdCredential: false,
  body: null,
  signal: null,
  ...given,
})

async function text(answer: Answer): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of answer.body) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

describe('what the upstream receives', () => {
  test('connections are kept and used again', async () => {
    await using upstream = await fakeUpstream(json({}))
    const upstreams = open({ default: { url: upstream.url }, other: { url: `${upstream.origin}/x` } })
    for (const name of [null, 'other', null, 'other', null, 'other']) {
      await text(await upstreams.send(request({ upstream: name })))
    }
    // A connection is free a moment after its answer has ended, so a second one may have been opened.
    expect(upstream.connections()).toBeLessThanOrEqual(2)
  })
})

/** Answers the first request of each connection, and hangs up on the second; counts what it received. */
async function hangingUp(): Promise<{ url: string; bodies: string[]; close: () => void }> {
  const bodies: string[] = []
  const server = createTcpServer((socket) => {
    let requests = 0
    socket.on('error', () => {})
    socket.on('data', (piece) => {
      bodies.push(piece.toString('latin1').split('\r\n\r\n')[1] ?? '')
      requests += 1
      if (requests > 1) socket.end()
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    })
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}/v1`, bodies, close: () => server.close() }
}

// llama-cpp-python ends its connection a moment after an answer, whatever it promised. The next request that took the
// connection got 502 from us.
describe('a kept connection that its server closes as it is used again', () => {
  test('has the request sent once more, over a connection of its own', async () => {
    const { url, bodies, close } = await hangingUp()
    const upstreams = open({ default: { url } })
    const sent = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']
    for (const body of sent)
      expect(await text(await upstreams.send(request({ body: Buffer.from(body) })))).toBe('ok')
    expect([...new Set(bodies)]).toEqual(sent)
    // Each at most once more, and some of them were.
    expect(bodies.length).toBeGreaterThan(sent.length)
    for (const body of sent) expect(bodies.filter((each) => each === body).length).toBeLessThanOrEqual(2)
    close()
  })

  test('but not where the body was a stream, which is gone', async () => {
    const { url, bodies, close } = await hangingUp()
    const upstreams = open({ default: { url } })
    const outcomes: string[] = []
    for (let index = 0; index < 6; index += 1) {
      const streamed = request({ body: Readable.from([Buffer.from('piece')]), bodyBytes: 5 })
      const outcome = upstreams.send(streamed).then(text, (error: { code: string }) => error.code)
      outcomes.push(await outcome)
    }
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'upstream_broken']))
    expect(bodies.filter((body) => body === 'piece').length).toBeLessThanOrEqual(6)
    close()
  })
})

describe("a question of Foldgate's own", () => {
  const question = {
    upstream: null,
    method: 'POST' as const,
    path: '/api/show',
    query: '?a=1&key=client',
    rawHeaders: ['x-api-key', 'client'],
    withholdCredential: false,
    keyPlace: null,
    body: Buffer.from('{}'),
    signal: null,
  }

  test("goes to a path of the upstream's host, whatever the path of its URL, and past its queue", async () => {
    await using upstream = await fakeUpstream(json({ ok: true }))
    const upstreams = open({ default: { url: upstream.url, concurrency: 0 } })
    expect(await text(await upstreams.ask(question))).toBe('{"ok":true}')
    const [received] = upstream.requests
    expect(received).toMatchObject({ method: 'POST', url: '/api/show?a=1&key=client' })
    expect(received?.body.toString()).toBe('{}')
    expect(received?.headers['x-api-key']).toBe('client')
    expect(await upstreams.sendIdle({ ...request(), signal: null })).toBeNull()
  })

  test('never goes to a path that reads as another host', async () => {
    await using upstream = await fakeUpstream(json({}))
    const upstreams = open({ default: { url: upstream.url } })
    await expect(upstreams.ask({ ...question, path: '//evil.example/x' })).rejects.toThrow(TypeError)
    expect(upstream.requests).toEqual([])
  })
})

describe("the client's credential", () => {
  const rawHeaders = ['Authorization', 'Bearer client']
  const target = parseTarget('/v1/x?key=client&a=1')

  test('goes to the default upstream, and to one that is marked for it', async () => {
    await using upstream = await fakeUpstream(json({}))
    const upstreams = open({
      default: { url: upstream.url },
      marked: { url: upstream.url, forward_client_key: true },
      other: { url: upstream.url },
    })
    for (const name of [null, 'marked', 'other']) {
      await text(await upstreams.send(request({ upstream: name, rawHeaders, target })))
    }
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer client',
      'Bearer client',
      undefined,
    ])
    expect(upstream.requests.map(({ url }) => url)).toEqual([
      '/v1/x?key=client&a=1',
      '/v1/x?key=client&a=1',
      '/v1/x?a=1',
    ])
  })

  test("is replaced by a held key, and withheld where it is a key of Foldgate's own", async () => {
    await using upstream = await fakeUpstream(json({}))
    const upstreams = open({
      default: { url: upstream.url },
      held: { url: upstream.url, key: () => 'secret' },
    })
    await text(await upstreams.send(request({ upstream: 'held', rawHeaders, target })))
    await text(await upstreams.send(request({ rawHeaders, target, withholdCredential: true })))
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      undefined,
    ])
  })
})

describe('what goes wrong is said with an address and without secrets', () => {
  // Whoever misspelt the address of a second upstream was told to look at --upstream, which was right.
  test('nobody listens: the setting of that upstream is named', async () => {
    const upstream = await fakeUpstream(silence)
    await upstream.close()
    const upstreams = open({
      default: { url: upstream.url },
      cheap: { url: upstream.url, set_by: 'upstreams.cheap.url in foldgate.yaml' },
    })
    await expect(upstreams.send(request())).rejects.toThrow(/ --upstream names it/)
    await expect(upstreams.send(request({ upstream: 'cheap' }))).rejects.toThrow(
      / upstreams\.cheap\.url in foldgate\.yaml names it/,
    )
  })

  test('no answer in time', async () => {
    await using upstream = await fakeUpstream(silence)
    const upstreams = open({ default: { url: upstream.url } }, { first_byte_s: 0.1 })
    const answers = [upstreams.send(request()), upstreams.sendIdle({ ...request(), signal: null })]
    const late = { code: 'upstream_timeout', message: expect.stringContaining('limits.first_byte_s') }
    await Promise.all(answers.map((answer) => expect(answer).rejects.toMatchObject(late)))
  })

  test('silence in the middle of an answer', async () => {
    await using upstream = await fakeUpstream(events(['data: 1\n\n'], 'never'))
    const upstreams = open({ default: { url: upstream.url } }, { idle_s: 0.1 })
    const answer = await upstreams.send(request())
    const error = await text(answer).catch((thrown: unknown) => thrown)
    expect(answer.failure(error)).toMatchObject({
      code: 'upstream_timeout',
      message: expect.stringContaining('limits.idle_s'),
    })
  })

  test('a connection that closes without an answer, and one that speaks no HTTP', async () => {
    for (const bye of ['', 'SSH-2.0-x\r\n']) {
      const server = createTcpServer((socket) => {
        socket.on('error', () => socket.destroy())
        socket.once('data', () => socket.end(bye))
      })
      const port = await listen(server)
      const upstreams = open({ default: { url: `http://127.0.0.1:${port}` } })
      await expect(upstreams.send(request())).rejects.toMatchObject({ code: 'upstream_broken' })
      server.close()
    }
  })
})

test('an HTTP proxy of the environment is used, with repeated headers kept, but not for this machine', async () => {
  const seen: { url: string; rawHeaders: string[] }[] = []
  const proxy = createHttpServer((incoming, outgoing) => {
    seen.push({ url: incoming.url ?? '', rawHeaders: incoming.rawHeaders })
    outgoing.end('through the proxy')
  })
  const port = await listen(proxy)
  await using local = await fakeUpstream(bytes('direct'))
  const upstreams = open(
    { default: { url: 'http://upstream.example/v1' }, local: { url: local.url } },
    {},
    `http://127.0.0.1:${port}`,
  )
  const rawHeaders = ['X-Twice', '1', 'X-Twice', '2']
  expect(await text(await upstreams.send(request({ rawHeaders })))).toBe('through the proxy')
  expect(await text(await upstreams.send(request({ upstream: 'local' })))).toBe('direct')
  expect(seen.map(({ url }) => url)).toEqual(['http://upstream.example/v1/chat/completions'])
  expect(seen[0]?.rawHeaders.filter((name) => name === 'X-Twice').length).toBe(2)
  await closeAll(proxy)
})

// The HTTP client takes a reset for the end, since macOS reports one behind whole bodies too: half an answer of a server that
// states no length looked like all of it. Where the environment names a proxy, hosts that are exempt from it had connections of another kind: half of an answer
// that was reset looked whole there.
test.each([
  ['without a proxy', '', ''],
  ['beside a proxy that the host is exempt from', 'http://127.0.0.1:9', '127.0.0.1'],
])('an answer without a length that is reset is not whole, %s', async (_, httpProxy, noProxy) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n\r\nhalf of it', () => {
      setTimeout(() => socket.resetAndDestroy(), 50)
    })
  })
  const port = await listen(server)
  const pools = createPools({ connectMs: 5_000, proxies: { httpProxy, httpsProxy: '', noProxy } })
  const address = { ...parseUpstreamAddress(`http://127.0.0.1:${port}/v1`), loopback: false }
  const { dispatcher } = pools.dispatcherFor(address)
  const answer = await dispatcher.request({ origin: address.origin, path: '/', method: 'GET' })
  await expect(answer.body.text()).rejects.toThrow('ECONNRESET')
  await pools.destroy()
  server.close()
})
