import { describe, expect, test } from 'vitest'
import { openRaw, readUntil } from '../../support/raw-client.ts'
import { startProxy } from '../../http/start-proxy.ts'
import { completion, fakeUpstream } from '../../support/fake-upstream.ts'

function post(path: string, expectation: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: ${expectation}\r\n\r\n`
}

// Of `100-continue, x` Node sees the part that it knows, and nobody answered the rest: the client waited to be told to go on,
// Foldgate for a body, and the request held its place.
describe('a client that expects more than 100-continue is answered at once', () => {
  test.each(['100-continue, x', 'x, 100-continue', 'x-100-continue', 'x'])('%s', async (expectation) => {
    await using upstream = await fakeUpstream(completion('fine'))
    await using proxy = await startProxy(upstream.url)
    for (const path of ['/v1/chat/completions', '/v1/files']) {
      const client = await openRaw(proxy.port, post(path, expectation))
      const answer = await readUntil(client, '}}')
      expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*"param":"expect","code":"invalid_header"/)
      client.destroy()
    }
    expect(upstream.requests).toEqual([])
  })
})

test.each(['100-continue', '100-Continue', '100-continue, 100-continue'])(
  'a client that expects %s is told to go on',
  async (expectation) => {
    await using upstream = await fakeUpstream(completion('fine'))
    await using proxy = await startProxy(upstream.url)
    for (const path of ['/v1/chat/completions', '/v1/files']) {
      const client = await openRaw(proxy.port, post(path, expectation))
      await readUntil(client, 'HTTP/1.1 100 Continue\r\n\r\n')
      client.write('{}')
      expect(await readUntil(client, 'fine')).toMatch(/^HTTP\/1\.1 200 /)
      client.destroy()
    }
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual(['{}', '{}'])
  },
)
