import { request as httpRequest } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { bytes, events, fakeUpstream, json, silence, type Script } from '../support/fake-upstream.ts'
import { openRaw, parseRaw, rawExchange, readUntil, type RawAnswer } from '../support/raw-client.ts'
import { proxyBefore, startProxy } from './start-proxy.ts'
import { eventually } from '../support/eventually.ts'
import { times } from '../support/times.ts'

const closing = 'Host: localhost\r\nConnection: close\r\n'

const bodyless: Script = (request, outgoing) =>
  void outgoing.writeHead(Number(request.headers['x-status'] ?? 200)).end()

const headOnly: Script = (_request, outgoing) =>
  void outgoing.writeHead(200, { 'Content-Length': '1234', ETag: '"x"' }).end()

const answerTwice: Script = (_request, outgoing) => {
  const headers = ['Set-Cookie', 'a', 'Set-Cookie', 'b', 'Connection', 'x-hop', 'X-Hop', '1']
  outgoing.writeHead(200, headers).end('x')
}

const early: Script = (_request, outgoing) =>
  void outgoing.writeHead(401, { connection: 'close' }).end('{"error":"no"}')

const endless: Script = (_request, outgoing) => {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => outgoing.write(`data: ${'x'.repeat(2_000)}\n\n`), 1)
  outgoing.on('close', () => clearInterval(timer))
}

/** The bytes of an answer's body as they came over a connection that sent it in chunks. */
function dechunk(framed: Buffer): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (;;) {
    const lineEnd = framed.indexOf('\r\n', at)
    const length = Number.parseInt(framed.subarray(at, lineEnd).toString('latin1'), 16)
    if (!(length > 0)) return Buffer.concat(pieces)
    pieces.push(framed.subarray(lineEnd + 2, lineEnd + 2 + length))
    at = lineEnd + 2 + length + 2
  }
}

describe('streams reach the client byte for byte', () => {
  const emoji = Buffer.from('data: {"content":"a😀b"}\n\n', 'utf8')
  test.each<[string, (string | Buffer)[]]>([
    [
      'comments and keep-alives',
      [': PROCESSING\n\n', ': keep-alive\n\n', '\n', 'data: 1\n\n', 'data: [DONE]\n\n'],
    ],
    ['CRLF, event lines, several data lines', ['event: x\r\ndata: 1\r\ndata: 2\r\n\r\n', 'data:nospace\n\n']],
    ['a character split between pieces', [emoji.subarray(0, 22), emoji.subarray(22, 24), emoji.subarray(24)]],
    ['no [DONE] and no last blank line', ['data: 1\n\n', 'data: 2']],
    ['text behind [DONE]', ['data: [DONE]\n\n', 'data: more\n\n']],
  ])('%s', async (_name, pieces) => {
    await using proxy = await proxyBefore(events(pieces))
    const answer = await rawExchange(proxy.port, `GET /v1/x HTTP/1.1\r\n${closing}\r\n`)
    const expected = Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
    expect(dechunk(answer.body)).toEqual(expected)
    expect(answer.headers).toContain('content-type: text/event-stream')
    expect(answer.headers).toContain('x-accel-buffering: no')
  })
})

describe('bodies of every kind pass both ways', () => {
  const binary = randomBytes(300_000)

  test('a binary upload of known length, and a binary answer', async () => {
    await using proxy = await proxyBefore(bytes(binary, { 'Content-Type': 'audio/mpeg' }))
    const headers = { 'content-type': 'multipart/form-data; boundary=X-BOUNDARY' }
    const answer = await fetch(`${proxy.origin}/v1/audio/speech`, { method: 'PUT', body: binary, headers })
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(binary)
    expect(answer.headers.get('content-length')).toBe(String(binary.length))
    const [received] = proxy.upstream.requests
    expect(received?.body).toEqual(binary)
    expect(received?.headers).toMatchObject({ ...headers, 'content-length': String(binary.length) })
    expect(received?.headers['transfer-encoding']).toBeUndefined()
  })

  test('a chunked upload stays chunked', async () => {
    await using proxy = await proxyBefore(json({}))
    const head = `POST /v1/x HTTP/1.1\r\n${closing}Transfer-Encoding: chunked\r\n\r\n`
    await rawExchange(proxy.port, `${head}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`)
    expect(proxy.upstream.requests[0]?.body.toString()).toBe('abcde')
    expect(proxy.upstream.requests[0]?.headers['transfer-encoding']).toBe('chunked')
  })

  test('compressed requests and answers are not unpacked', async () => {
    const packed = gzipSync('{"hello":"world"}')
    await using proxy = await proxyBefore(bytes(packed, { 'Content-Encoding': 'gzip' }))
    const head = `POST /v1/x HTTP/1.1\r\n${closing}Content-Encoding: gzip\r\nAccept-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`
    const answer = await rawExchange(proxy.port, Buffer.concat([Buffer.from(head), packed]))
    expect(answer.headers).toContain('Content-Encoding: gzip')
    expect(gunzipSync(answer.body).toString()).toBe('{"hello":"world"}')
    expect(proxy.upstream.requests[0]?.body).toEqual(packed)
    const same = { 'content-encoding': 'gzip', 'accept-encoding': 'gzip' }
    expect(proxy.upstream.requests[0]?.headers).toMatchObject(same)
  })

  test('a client that waits for 100-continue is told to go on; the upstream does not see the header', async () => {
    await using proxy = await proxyBefore(json({ ok: true }))
    const head = `POST /v1/x HTTP/1.1\r\n${closing}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`
    const socket = await openRaw(proxy.port, head)
    await readUntil(socket, '100 Continue')
    socket.write('hello')
    expect(await readUntil(socket, '{"ok":true}')).toContain('200 OK')
    expect(proxy.upstream.requests[0]?.body.toString()).toBe('hello')
    expect(proxy.upstream.requests[0]?.headers.expect).toBeUndefined()
  })
})

describe('answers keep their meaning', () => {
  test('HEAD, OPTIONS, 204 and 304 come without a body', async () => {
    await using proxy = await proxyBefore([headOnly, bodyless])
    const answers: RawAnswer[] = []
    for (const [method, line] of [['HEAD'], ['OPTIONS'], ['GET', 'X-Status: 204'], ['GET', 'X-Status: 304']])
      answers.push(
        await rawExchange(proxy.port, `${method} /v1/x HTTP/1.1\r\n${closing}${line ?? 'X: 1'}\r\n\r\n`),
      )
    expect(proxy.upstream.requests.map(({ method }) => method)).toEqual(['HEAD', 'OPTIONS', 'GET', 'GET'])
    expect(answers.map(({ statusLine }) => statusLine.slice(9, 12))).toEqual(['200', '200', '204', '304'])
    expect(answers[0]?.headers).toContain('Content-Length: 1234')
    expect([0, 2, 3].map((index) => answers[index]?.body.length)).toEqual([0, 0, 0])
  })

  test('an error passes with its body, retry-after and rate limits, in the upstream’s spelling', async () => {
    const body = '{"error":{"message":"slow down"}}'
    const limits = { 'Retry-After': '7', 'x-ratelimit-Remaining-tokens': '0', 'X-Request-Id': 'r1' }
    await using proxy = await proxyBefore(bytes(body, { ...limits, 'x-foldgate-action': 'forged' }, 429))
    const answer = await rawExchange(proxy.port, `GET /v1/x HTTP/1.1\r\n${closing}\r\n`)
    expect(answer.statusLine).toBe('HTTP/1.1 429 Too Many Requests')
    const lines = Object.entries(limits).map(([name, value]) => `${name}: ${value}`)
    expect(answer.headers).toEqual(expect.arrayContaining(lines))
    const own = answer.headers.filter((line) => line.startsWith('x-foldgate'))
    expect(own).toEqual(['x-foldgate-action: relayed'])
    expect(answer.body.toString()).toBe(body)
  })

  test('hop-by-hop headers stay on their side, repeated headers stay repeated', async () => {
    await using proxy = await proxyBefore(answerTwice)
    const answer = await rawExchange(
      proxy.port,
      'GET /v1/x HTTP/1.1\r\nHost: localhost\r\nConnection: close, X-Private\r\nX-Private: 1\r\nTE: trailers\r\nX-Foldgate-Bypass: 1\r\nX-Kept: 2\r\n\r\n',
    )
    const kept = answer.headers.filter((line) => /^(?:Set-Cookie|X-Hop)/.test(line))
    expect(kept).toEqual(['Set-Cookie: a', 'Set-Cookie: b'])
    const received = proxy.upstream.requests[0]
    expect(received?.headers).toMatchObject({ 'x-kept': '2', host: `127.0.0.1:${proxy.upstream.port}` })
    for (const name of ['x-private', 'te', 'x-foldgate-bypass'])
      expect(received?.headers[name]).toBeUndefined()
  })

  test('a generation path that is not compacted says so', async () => {
    await using proxy = await proxyBefore(json({}))
    const answer = await fetch(`${proxy.origin}/v1/completions`, { method: 'POST', body: '{}' })
    expect(answer.headers.get('x-foldgate-action')).toBe('relayed;reason=path')
  })
})

describe('when the upstream fails', () => {
  test('unreachable is a 502 with code and address, also while a body is uploaded', async () => {
    const upstream = await fakeUpstream(silence)
    await upstream.close()
    await using proxy = await startProxy(upstream.url)
    for (const body of [null, randomBytes(2_000_000)]) {
      const init = body === null ? {} : { method: 'POST', body }
      const answer = await fetch(`${proxy.origin}/v1/files?key=secret`, init)
      expect(answer.status).toBe(502)
      const text = await answer.text()
      const message = expect.stringContaining(`127.0.0.1:${upstream.port}/v1`)
      const error = { type: 'foldgate_error', code: 'upstream_unreachable', message }
      expect(JSON.parse(text)).toMatchObject({ error })
      expect(text).not.toMatch(/secret|\.ts|node:/)
    }
  })

  // A stream that just ends looks to a client like a complete answer with half of the text.
  test.each(['chunked', 'with its length', 'to an HTTP/1.0 client'])(
    'an answer that breaks off, %s, never looks complete',
    async (kind) => {
      const half: Script = (_request, outgoing) => {
        outgoing.writeHead(200, kind === 'with its length' ? { 'content-length': '100' } : {})
        outgoing.write('half')
        setImmediate(() => outgoing.socket?.destroy())
      }
      await using proxy = await proxyBefore(half)
      const version = kind === 'to an HTTP/1.0 client' ? '1.0' : '1.1'
      const socket = await openRaw(proxy.port, `GET /v1/x HTTP/${version}\r\nHost: localhost\r\n\r\n`)
      const pieces: Buffer[] = []
      let reset = false
      socket.on('data', (piece) => pieces.push(piece))
      socket.on('error', () => void (reset = true))
      await new Promise((resolve) => socket.once('close', resolve))
      const { headers, body } = parseRaw(Buffer.concat(pieces))
      const chunked = headers.some((line) => /^transfer-encoding: chunked$/i.test(line))
      const complete = chunked ? body.toString().endsWith('0\r\n\r\n') : kind !== 'with its length' && !reset
      expect(complete).toBe(false)
      await eventually(() => expect(proxy.failures.map(({ code }) => code)).toEqual(['upstream_broken']))
    },
  )

  test('an answer before the end of the upload reaches the client', async () => {
    await using proxy = await proxyBefore(early, { readBody: false })
    const socket = await openRaw(
      proxy.port,
      'POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nbeginning',
    )
    expect(await readUntil(socket, '{"error":"no"}')).toContain('401')
    socket.destroy()
  })
})

describe('when the client leaves', () => {
  const get = 'GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const upload = 'POST /v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n'
  test.each([
    ['before the answer', silence, get, ''],
    ['in the middle of an upload', silence, `${upload}beginning`, ''],
    ['in the middle of the answer', events(['data: 1\n\n'], 'never'), get, 'data: 1'],
  ])('%s, the upstream call is cancelled', async (_name, script, request, until) => {
    await using proxy = await proxyBefore(script)
    const socket = await openRaw(proxy.port, request)
    await eventually(() => expect(proxy.upstream.requests.length).toBe(1))
    if (until !== '') await readUntil(socket, until)
    socket.destroy()
    const ended = () => proxy.upstream.requests[0]?.[request === get ? 'left' : 'brokenOff']
    await eventually(() => expect(ended()).toBe(true))
    await eventually(() => expect(proxy.lifecycle.running).toBe(0))
    expect(proxy.failures).toEqual([])
  })

  // Measured on a prototype: an answer made of web streams died with an uncaught exception when 64
  // connections were dropped at once, and a plain pipe left the 64 upstream streams running.
  test('64 clients that leave at once, streaming, waiting and uploading, leave a working server', async () => {
    const uncaught: unknown[] = []
    const note = (error: unknown) => uncaught.push(error)
    process.on('uncaughtException', note)
    process.on('unhandledRejection', note)
    await using proxy = await proxyBefore((request) =>
      request.url.endsWith('stream') ? endless : json({ ok: true }),
    )
    for (const _ of ['once', 'again']) {
      const sockets = await Promise.all(
        times(64, async (index) => {
          const head = index % 4 === 3 ? `${upload}x` : get.replace('/v1/x', '/v1/stream')
          const socket = await openRaw(proxy.port, head)
          if (index % 4 < 2) await readUntil(socket, 'data: ')
          return socket
        }),
      )
      for (const [index, socket] of sockets.entries()) {
        if (index % 2 === 0) socket.resetAndDestroy()
        else socket.destroy()
      }
      await eventually(() => expect(proxy.lifecycle.running).toBe(0))
    }
    await eventually(() =>
      expect(proxy.upstream.requests.every(({ left, brokenOff }) => left || brokenOff)).toBe(true),
    )
    expect(await (await fetch(`${proxy.origin}/v1/x`)).json()).toEqual({ ok: true })
    process.off('uncaughtException', note)
    process.off('unhandledRejection', note)
    expect(uncaught).toEqual([])
  })

  test('a client that does not read slows the upstream down instead of filling the memory', async () => {
    let written = 0
    const torrent: Script = (_request, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'application/octet-stream' })
      const piece = Buffer.alloc(256 * 1024)
      const push = () => {
        while (written < 512 * 1024 * 1024 && !outgoing.destroyed) {
          written += piece.length
          if (!outgoing.write(piece)) return
        }
      }
      outgoing.on('drain', push)
      push()
    }
    await using proxy = await proxyBefore(torrent)
    const { promise, resolve } = Promise.withResolvers<void>()
    const asked = httpRequest(`${proxy.origin}/v1/x`, (answer) => void answer.once('readable', resolve))
    asked.on('error', () => null)
    asked.end()
    await promise
    let before = -1
    const stands = () => {
      const was = before
      before = written
      expect(was).toBe(written)
    }
    await eventually(stands, { interval: 300 })
    expect(written).toBeLessThan(128 * 1024 * 1024)
    asked.destroy()
    await eventually(() => expect(proxy.upstream.requests[0]?.left).toBe(true))
  })
})
