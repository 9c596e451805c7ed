import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openRaw } from '../../support/raw-client.ts'
import { completion, events, silence, type Script } from '../../support/fake-upstream.ts'
import { eventually } from '../../support/eventually.ts'
import { standWith, type Stand } from '../../support/stand.ts'

/** The places that there are. */
const PLACES = 40

const keys = { ADA_KEY: 'key-of-ada', BEN_KEY: 'key-of-ben' }

const client_keys = [
  { name: 'ada', key_env: 'ADA_KEY' },
  { name: 'ben', key_env: 'BEN_KEY' },
]

/** Streams that never end, and a completion for everybody whose path is not `/v1/slow`. */
const slowOrFine: Script = (request) =>
  request.url.endsWith('/slow') ? events(['data: 1\n\n'], 'never') : completion('fine')

const keyed = (script: Script): Promise<Stand> =>
  standWith(script, { settings: { client_keys, limits: { concurrent: PLACES } }, env: keys })

const get = (path: string, key: string): string =>
  `GET /v1/${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`

function chat(at: Stand, key: string): Promise<Response> {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello.' }] })
  return fetch(`${at.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body,
  })
}

const connections = async (at: Stand, count: number): Promise<readonly Socket[]> =>
  Promise.all(Array.from({ length: count }, () => openRaw(at.foldgate.listening.port)))

function destroyAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy()
}

// Places were given before keys were asked, and a refusal kept its place until it was read. Eight connections that sent 250
// requests at a time, with no key, and never read an answer kept a client with a key at 503 for seven minutes.
test('clients without a key take no place, however many requests they send and however little they read', async () => {
  await using at = await keyed(slowOrFine)
  const attackers = await connections(at, 8)
  for (const attacker of attackers) attacker.pause()
  for (let round = 0; round < 8; round += 1) {
    for (const attacker of attackers) attacker.write(get('models', 'wrong').repeat(250))
    const answer = await chat(at, keys.ADA_KEY)
    expect(answer.status).toBe(200)
    await answer.text()
  }
  expect(at.upstream.requests).toHaveLength(8)
  destroyAll(attackers)
})

// At the same time: each waits until the clock has run out.
describe.concurrent('what is never read', () => {
  // A refusal that is not read stays in memory, and its connection open.
  test('a client that never reads its refusals is cut off', async () => {
    await using at = await keyed(slowOrFine)
    const [attacker] = await connections(at, 1)
    if (attacker === undefined) throw new Error('No connection.')
    attacker.pause()
    // More than both machines hold of the answers on their way.
    for (let round = 0; round < 200; round += 1) attacker.write(get('models', 'wrong').repeat(250))
    await eventually(() => {
      attacker.write('GET')
      expect(attacker.destroyed).toBe(true)
    })
    expect((await chat(at, keys.ADA_KEY)).status).toBe(200)
  })

  // Probes and preflights were under no clock: four connections that asked for `/healthz` without end and never read stayed
  // for good, and with them all the room for requests that wait.
  test('clients without a key that never read the answers to their probes are cut off', async () => {
    await using at = await keyed(slowOrFine)
    const attackers = await connections(at, 2)
    for (const attacker of attackers) attacker.pause()
    const probes = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_000)
    // More than both machines hold of the answers on their way.
    for (let round = 0; round < 60; round += 1) for (const attacker of attackers) attacker.write(probes)
    await eventually(() => {
      for (const attacker of attackers) if (!attacker.destroyed) attacker.write('GET')
      expect(attackers.filter(({ destroyed }) => destroyed)).toHaveLength(2)
    })
    expect((await chat(at, keys.ADA_KEY)).status).toBe(200)
  })
})

// One connection sent 1,030 requests behind a stream that did not end, and took all 1,024 places.
test('requests that one connection sends ahead take few places, and are all answered in the end', async () => {
  const ends: (() => void)[] = []
  await using at = await keyed((request, outgoing) => {
    if (!request.url.endsWith('/slow')) return completion('fine')
    outgoing.write('begun')
    ends.push(() => outgoing.end())
    return undefined
  })
  const [attacker] = await connections(at, 1)
  let got = ''
  attacker?.on('data', (piece: Buffer) => {
    got += piece.toString('latin1')
  })
  attacker?.write(get('slow', keys.ADA_KEY) + get('models', keys.ADA_KEY).repeat(1_030))
  await eventually(() => expect(got).toContain('begun'))
  for (const key of [keys.ADA_KEY, keys.BEN_KEY]) expect((await chat(at, key)).status).toBe(200)
  expect(at.upstream.requests.length).toBeLessThan(PLACES / 2)
  for (const end of ends) end()
  await eventually(() => expect(got.match(/HTTP\/1\.1 200 /g)).toHaveLength(1_031))
  attacker?.destroy()
})

// One client with a key opened as many streams as there were places, each on a connection of its own: everybody else had
// 503 for as long as it went on reading.
test('one client that holds every place gives way to another, up to half of them', async () => {
  await using at = await keyed(slowOrFine)
  const streams = await connections(at, PLACES)
  for (const stream of streams) stream.write(get('slow', keys.ADA_KEY))
  await eventually(() => expect(at.upstream.requests).toHaveLength(PLACES))
  const others = await connections(at, PLACES / 2)
  for (const other of others) other.write(get('slow', keys.BEN_KEY))
  await eventually(() => expect(at.upstream.requests).toHaveLength(PLACES * 1.5))
  expect(at.upstream.requests.filter(({ left }) => left).length).toBe(PLACES / 2)
  // Now each has half, and neither has more of it.
  for (const key of [keys.ADA_KEY, keys.BEN_KEY]) {
    const refused = await chat(at, key)
    expect(refused.status).toBe(503)
    expect(await refused.text()).toContain('limits.concurrent')
  }
  destroyAll([...streams, ...others])
})

// What gives way first is what has no answer yet: its client is told to try again, as one is that comes too late.
test('a request that gives way before its answer is told so, and its upstream is let go', async () => {
  await using at = await keyed(silence)
  const waiting = Array.from({ length: PLACES }, () => chat(at, keys.ADA_KEY))
  await eventually(() => expect(at.upstream.requests).toHaveLength(PLACES))
  const [other] = await connections(at, 1)
  other?.write(get('models', keys.BEN_KEY))
  const first = await Promise.race(waiting)
  expect([first.status, first.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await first.json()).toMatchObject({ error: { code: 'overloaded' } })
  await eventually(() => expect(at.upstream.requests.filter(({ left }) => left)).toHaveLength(1))
  await eventually(() => expect(at.upstream.requests.at(-1)?.url).toBe('/v1/models'))
  other?.destroy()
  await at.foldgate.close()
  await Promise.allSettled(waiting)
})
