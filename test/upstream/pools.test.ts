import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { parseUpstreamAddress } from '../../src/upstream/address.ts'
import { createPools } from '../../src/upstream/pools.ts'
import { freePort } from '../support/free-port.ts'

// Where the environment names a proxy, hosts that are exempt from it had connections of another kind: half of an answer
// that was reset looked whole there.
test.each([
  ['without a proxy', '', ''],
  ['beside a proxy that the host is exempt from', 'http://127.0.0.1:9', '127.0.0.1'],
])('an answer without a length that is reset is not whole, %s', async (_, httpProxy, noProxy) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\n\r\nhalf of it', () => {
      setTimeout(() => socket.resetAndDestroy(), 50)
    })
  })
  const port = await freePort()
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const pools = createPools({ connectMs: 5_000, proxies: { httpProxy, httpsProxy: '', noProxy } })
  const address = { ...parseUpstreamAddress(`http://127.0.0.1:${port}/v1`), loopback: false }
  const { dispatcher } = pools.dispatcherFor(address)
  const answer = await dispatcher.request({ origin: address.origin, path: '/', method: 'GET' })
  await expect(answer.body.text()).rejects.toThrow('ECONNRESET')
  await pools.destroy()
  server.close()
})
