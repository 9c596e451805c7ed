import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { json } from '../support/fake-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { openRaw, readToEnd, readUntil } from '../support/raw-client.ts'
import { proxyBefore } from './start-proxy.ts'

const PIECE = Buffer.alloc(64 * 1024, 46)
const PIECES = 32

// A client that says `Connection: close` lost the answer to an upload that was refused: the connection was closed with
// the answer, what the client went on sending met a closed one, and its machine dropped what it had not read yet.
describe('an upload that is refused is read on, so that the client gets to its answer', () => {
  test.each(['keep-alive', 'close'])('Connection: %s', async (connection) => {
    await using proxy = await proxyBefore(json({}))
    const head = [
      'POST /u/nobody/v1/files HTTP/1.1',
      'Host: localhost',
      `Connection: ${connection}`,
      `Content-Length: ${PIECE.length * PIECES}`,
    ]
    const socket = await openRaw(proxy.port, `${head.join('\r\n')}\r\n\r\n`)
    const problems: Error[] = []
    socket.on('error', (error) => problems.push(error))
    // It reads when it has sent everything, as many clients do.
    socket.pause()
    for (let piece = 0; piece < PIECES; piece += 1) {
      if (!socket.write(PIECE)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
      await new Promise((resolve) => {
        setTimeout(resolve, 5)
      })
    }
    const [answer] = await Promise.race([once(socket.resume(), 'data'), once(socket, 'close')])
    expect(problems).toEqual([])
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 [^]*"code":"unknown_upstream"/)
    socket.destroy()
  })

  // Whoever was refused, and went on sending, took a place from those who were not.
  test.each(['keep-alive', 'close'])('and takes no place meanwhile, Connection: %s', async (connection) => {
    await using proxy = await proxyBefore(json({ fine: true }), { limits: { concurrent: 1 } })
    const head = `POST /u/nobody/v1/files HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\nContent-Length: 4\r\n\r\n`
    const socket = await openRaw(proxy.port, head)
    await once(socket, 'data')
    await eventually(() => expect(proxy.lifecycle.running).toBe(0))
    expect(socket.readableEnded).toBe(false)
    expect((await fetch(`${proxy.origin}/v1/x`)).status).toBe(200)
    socket.destroy()
  })

  // Such a connection stayed open: what was waited for before it would be closed was over by then.
  test('and what is no request behind it ends the connection', async () => {
    await using proxy = await proxyBefore(json({}))
    const head = 'POST /u/nobody/v1/files HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n'
    const socket = await openRaw(proxy.port, head)
    await once(socket, 'data')
    socket.write('fournonsense\r\n\r\n')
    await once(socket, 'end')
    expect(proxy.upstream.requests).toEqual([])
  })

  test('and one that said it would close is closed when all is read', async () => {
    await using proxy = await proxyBefore(json({}))
    const head =
      'POST /u/nobody/v1/files HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\n\r\n'
    const socket = await openRaw(proxy.port, head)
    await once(socket, 'data')
    socket.write('four')
    await once(socket, 'end')
    expect(proxy.upstream.requests).toEqual([])
  })
})

// The rest of an upload that was refused is read and dropped. Where it broke off in nonsense a second answer followed the
// first, to a request that nobody made.
test('a refused upload that turns into nonsense has one answer', async () => {
  await using proxy = await proxyBefore(json({}))
  const upload =
    'POST /u/nobody/v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'
  const socket = await openRaw(proxy.port, upload)
  const got = readToEnd(socket)
  await readUntil(socket, 'unknown_upstream')
  socket.write('nonsense')
  expect((await got).match(/HTTP\/1\.1 /g)).toHaveLength(1)
})
