import { describe, expect, test } from 'vitest'
import { openRaw, readUntil } from '../../support/raw-client.ts'
import { startProxy } from '../../http/start-proxy.ts'
import { completion, fakeUpstream, silence } from '../../support/fake-upstream.ts'
import { eventually } from '../../support/eventually.ts'
import { standWith } from '../../support/stand.ts'

const MEGABYTE = 1024 * 1024

/** The head of a chat whose body is still to come. */
function head(framing: string, key: string): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n${framing}\r\n\r\n`
}

// The length that a request stated was taken from `limits.bytes_in_flight_mb` before a byte of it had come: eight idle
// connections took all of it, and a byte every two seconds kept it.
test('bodies that were only announced take nothing from those that come', async () => {
  const limits = { body_mb: 1, bytes_in_flight_mb: 8 }
  await using at = await standWith(completion('fine'), { settings: { limits } })
  const attackers = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      openRaw(at.foldgate.listening.port, `${head(`Content-Length: ${MEGABYTE}`, `key-${index}`)}{`),
    ),
  )
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(900_000) }] })
  const answer = await fetch(`${at.url}/chat/completions`, { method: 'POST', body })
  expect(answer.status).toBe(200)
  expect(at.upstream.requests.map((request) => request.body.toString())).toEqual([body])
  for (const attacker of attackers) attacker.destroy()
})

// Bodies that had come, and whose answers did not, held all bytes for as long as the upstream took.
test('one client that holds all bytes gives way to another', async () => {
  const limits = { body_mb: 1, bytes_in_flight_mb: 4 }
  await using at = await standWith([silence, silence, silence, silence, completion('fine')], {
    settings: { limits },
  })
  const chat = (key: string, bytes: number): Promise<Response> =>
    fetch(`${at.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(bytes) }] }),
    })
  const held = Array.from({ length: 4 }, () => chat('ada', 1_000_000))
  await eventually(() => expect(at.upstream.requests).toHaveLength(4))
  expect((await chat('ben', 1_000_000)).status).toBe(200)
  const gaveWay = await Promise.race(held)
  expect(gaveWay.status).toBe(503)
  expect(at.upstream.requests.filter(({ left }) => left)).toHaveLength(1)
  await at.foldgate.close()
  await Promise.allSettled(held)
})

describe('a body that comes a byte at a time is given up, and its client told why', () => {
  const arrival = { silenceMs: 60_000, bytesPerSecondMin: 8 * 1024, graceMs: 300 }

  test.each([
    ['of a chat that is read', '/v1/chat/completions', {}],
    ['of a chat that is left alone', '/v1/chat/completions', { 'x-foldgate-bypass': '1' }],
    ['of something that is relayed', '/v1/files', {}],
  ])('%s', async (_, path, headers) => {
    await using upstream = await fakeUpstream(silence)
    await using proxy = await startProxy(upstream.url, { arrival })
    const lines = Object.entries({ ...headers, host: 'localhost', 'content-length': '100000' })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
    const attacker = await openRaw(proxy.port, `POST ${path} HTTP/1.1\r\n${lines}\r\n`)
    const dripping = setInterval(() => attacker.write('x'), 20)
    const answer = await readUntil(attacker, '}}')
    clearInterval(dripping)
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*limits\.body_kb_per_s/)
    await eventually(() => expect(proxy.lifecycle.running).toBe(0))
    attacker.destroy()
  })
})
