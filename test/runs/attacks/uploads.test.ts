import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { RequestBody } from '../../../src/pipeline/client-request.ts'
import { createFairShare } from '../../../src/scheduling/fair-share.ts'
import { startProxy, textAnswer } from '../../server/start-proxy.ts'
import { eventually } from '../../support/eventually.ts'
import { completion, fakeUpstream, silence } from '../../support/fake-upstream.ts'
import { openRaw, readUntil } from '../../support/raw-client.ts'
import { standWith, type Stand } from '../../support/stand.ts'

const MEGABYTE = 1024 * 1024

const head = (path: string, ...lines: readonly string[]): string =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`

function chat(at: Stand, key: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${at.url}/chat/completions`, { method: 'POST', headers, body })
}

const bodyOf = (bytes: number): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(bytes) }] })

// Of `100-continue, x` Node sees the part that it knows, and nobody answered the rest: the client waited to be told to go on,
// Foldgate for a body, and the request held its place.
test('a client that expects more than 100-continue is answered at once, and any other is told to go on', async () => {
  await using upstream = await fakeUpstream(completion('fine'))
  await using proxy = await startProxy(upstream.url)
  for (const path of ['/v1/chat/completions', '/v1/files']) {
    for (const expectation of ['100-continue, x', 'x, 100-continue', 'x-100-continue', 'x']) {
      const client = await openRaw(proxy.port, head(path, 'Content-Length: 2', `Expect: ${expectation}`))
      const answer = await readUntil(client, '}}')
      expect([expectation, answer]).toEqual([
        expectation,
        expect.stringMatching(/^HTTP\/1\.1 400 [^]*"param":"expect","code":"invalid_header"/),
      ])
      client.destroy()
    }
    expect(upstream.requests.splice(0)).toEqual([])
    for (const expectation of ['100-continue', '100-Continue', '100-continue, 100-continue']) {
      const client = await openRaw(proxy.port, head(path, 'Content-Length: 2', `Expect: ${expectation}`))
      await readUntil(client, 'HTTP/1.1 100 Continue\r\n\r\n')
      client.write('{}')
      expect(await readUntil(client, 'fine')).toMatch(/^HTTP\/1\.1 200 /)
      client.destroy()
    }
    expect(upstream.requests.splice(0).map(({ body }) => body.toString())).toEqual(['{}', '{}', '{}'])
  }
})

const announced = (key: string): string =>
  head('/v1/chat/completions', `Authorization: Bearer ${key}`, `Content-Length: ${MEGABYTE}`)

// The length that a request stated was taken from `limits.bytes_in_flight_mb` before a byte of it had come: eight idle
// connections took all of it, and a byte every two seconds kept it.
test('bodies that were only announced take nothing from those that come', async () => {
  const limits = { body_mb: 1, bytes_in_flight_mb: 8 }
  await using at = await standWith(completion('fine'), { settings: { limits } })
  const attackers = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      openRaw(at.foldgate.listening.port, `${announced(`key-${index}`)}{`),
    ),
  )
  const body = bodyOf(900_000)
  expect((await chat(at, 'ada', body)).status).toBe(200)
  expect(at.upstream.requests.map((request) => request.body.toString())).toEqual([body])
  for (const attacker of attackers) attacker.destroy()
})

// Bodies that had come, and whose answers did not, held all bytes for as long as the upstream took.
test('one client that holds all bytes gives way to another', async () => {
  const limits = { body_mb: 1, bytes_in_flight_mb: 4 }
  const script = [silence, silence, silence, silence, completion('fine')]
  await using at = await standWith(script, { settings: { limits } })
  const held = Array.from({ length: 4 }, () => chat(at, 'ada', bodyOf(1_000_000)))
  await eventually(() => expect(at.upstream.requests).toHaveLength(4))
  expect((await chat(at, 'ben', bodyOf(1_000_000))).status).toBe(200)
  expect((await Promise.race(held)).status).toBe(503)
  expect(at.upstream.requests.filter(({ left }) => left)).toHaveLength(1)
  await at.foldgate.close()
  await Promise.allSettled(held)
})

test.each([
  ['of a chat that is read', '/v1/chat/completions', []],
  ['of a chat that is left alone', '/v1/chat/completions', ['x-foldgate-bypass: 1']],
  ['of something that is relayed', '/v1/files', []],
])('a body that comes a byte at a time is given up, and its client told why: %s', async (_, path, lines) => {
  const arrival = { silenceMs: 60_000, bytesPerSecondMin: 8 * 1024, graceMs: 300 }
  await using upstream = await fakeUpstream(silence)
  await using proxy = await startProxy(upstream.url, { arrival })
  const attacker = await openRaw(proxy.port, head(path, ...lines, 'content-length: 100000'))
  const dripping = setInterval(() => attacker.write('x'), 20)
  const answer = await readUntil(attacker, '}}')
  clearInterval(dripping)
  expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*limits\.body_kb_per_s/)
  await eventually(() => expect(proxy.lifecycle.running).toBe(0))
  attacker.destroy()
})

/** A chat of very many messages that say next to nothing: each costs as much as one that says a lot. */
function tinyMessages(mark: string): string {
  const messages = Array.from({ length: 45_000 }, () => '{"role":"user","content":"a"}').join(',')
  return `{"model":"m","metadata":{"mark":"${mark}"},"messages":[${messages}]}`
}

/** An ordinary conversation of about a megabyte. */
function ordinary(mark: string): string {
  const content = 'Some of the words that people and models write to each other. '.repeat(32)
  const messages = Array.from({ length: 500 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${content}`,
  }))
  return JSON.stringify({ model: 'm', metadata: { mark }, messages })
}

// Long conversations were read one after the other, whoever sent them: two bodies of 1.4 million tiny messages kept the lane
// for 16 seconds each, and another client's ordinary conversation waited for both.
test('a client that sends very long conversations has no other wait for them', async () => {
  await using at = await standWith(completion('fine'), { profile: { window: { tokens: 2_000_000 } } })
  const arrived = (): readonly (string | undefined)[] =>
    at.upstream.requests.map(({ body }) => /"mark":"([\w-]+)"/.exec(body.toString('latin1', 0, 100))?.[1])
  const attacks = ['attack-1', 'attack-2'].map((mark) => chat(at, 'ada', tinyMessages(mark)))
  // It comes when the first of them is being worked on.
  await new Promise((resolve) => {
    setTimeout(resolve, 200)
  })
  expect((await chat(at, 'ben', ordinary('neighbour'))).status).toBe(200)
  await eventually(() => expect(arrived()).toHaveLength(3), { timeout: 60_000 })
  expect(arrived().indexOf('neighbour')).toBeLessThanOrEqual(1)
  for (const attack of attacks) expect((await attack).status).toBe(200)
})

// A hundred bytes of brotli are as many bytes of memory as a body may have: they were paid for when they were there, and
// made one in a single step at the end, beside their pieces.
describe('a small body that unpacks to a large one', () => {
  const plain = Buffer.alloc(48 * MEGABYTE, 'a')
  const brotli = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })
  const bombs: readonly (readonly [string, Buffer])[] = [
    ['gzip', gzipSync(plain)],
    ['br', brotli],
    ['zstd', zstdCompressSync(plain)],
    ['br, zstd', zstdCompressSync(brotli)],
  ]

  test.each(bombs)('in %s pays as it unpacks, and is refused without room', async (coding, body) => {
    await using upstream = await fakeUpstream(silence)
    let takenMax = 0
    let takes = 0
    const budget = createFairShare({ max: 32 * MEGABYTE })
    const watched: typeof budget = {
      ...budget,
      open: (holder) => {
        const holding = budget.open(holder)
        return {
          ...holding,
          take: (bytes) => {
            const taking = holding.take(bytes)
            takes += 1
            takenMax = Math.max(takenMax, budget.taken())
            return taking
          },
        }
      },
    }
    await using proxy = await startProxy(upstream.url, {
      bodyLimits: { budget: watched },
      handleConversation: async ({ body: unread }) => {
        await unread.read()
        return textAnswer('')
      },
    })
    const neighbour = budget.open({ name: 'neighbour', isAnswered: () => false, giveWay: () => {} })
    neighbour.take(MEGABYTE)
    const headers = { 'content-encoding': coding }
    const url = `${proxy.origin}/v1/chat/completions`
    const answer = await fetch(url, { method: 'POST', body: new Uint8Array(body), headers })
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'overloaded' } }])
    // In many pieces, as far as there was room, and all of it is given back.
    expect(takes).toBeGreaterThan(100)
    expect(takenMax).toBeLessThanOrEqual(32 * MEGABYTE)
    expect(budget.taken()).toBe(MEGABYTE)
  })

  test.each(bombs)('in %s is unpacked where there is room, byte for byte', async (coding, body) => {
    await using upstream = await fakeUpstream(silence)
    const bodies: RequestBody[] = []
    const budget = createFairShare({ max: 256 * MEGABYTE })
    await using proxy = await startProxy(upstream.url, {
      bodyLimits: { budget },
      handleConversation: async (request) => {
        bodies.push(await request.body.read())
        return textAnswer('')
      },
    })
    const headers = { 'content-encoding': coding }
    const url = `${proxy.origin}/v1/chat/completions`
    await fetch(url, { method: 'POST', body: new Uint8Array(body), headers })
    expect(bodies[0]?.decoded?.equals(plain)).toBe(true)
    bodies[0]?.release()
    expect(budget.taken()).toBe(0)
  })
})
