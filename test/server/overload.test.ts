import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { completion, silence, type Script } from '../support/fake-upstream.ts'
import { standWith, type Stand } from '../support/stand.ts'
import { eventually } from '../support/eventually.ts'
import { openRaw, readUntil } from '../support/raw-client.ts'

const body = (bytes: number) =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(bytes - 57) }] }).padEnd(bytes)

/** Begins a chat completion whose body is still to come. */
function beginChat(at: Stand, framing: string): Promise<Socket> {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`
  return openRaw(at.foldgate.listening.port, head)
}

const post = (at: Stand, text: string, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(`${at.url}/chat/completions`, { method: 'POST', body: text, signal })

describe('what is more than Foldgate may hold is refused at once, with a word on when to come back', () => {
  test.each([
    ['of a length that was stated', 'Content-Length: 700000', 'x'.repeat(600_000)],
    ['while more is to come', 'Transfer-Encoding: chunked', `aae60\r\n${'x'.repeat(700_000)}\r\n`],
  ])('the piece that is too much, %s', async (_, framing, sent) => {
    await using at = await standWith([silence, completion('fine')], {
      settings: { limits: { bytes_in_flight_mb: 1 } },
    })
    const leaving = new AbortController()
    const first = post(at, body(700_000), leaving.signal).catch((error: unknown) => error)
    await eventually(() => expect(at.upstream.requests).toHaveLength(1))

    const second = await beginChat(at, framing)
    second.write(sent)
    const answer = await readUntil(second, '}}')
    expect(answer).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n[^]*"code":"overloaded"/i)
    expect(answer).toContain('limits.bytes_in_flight_mb')
    expect(at.upstream.requests).toHaveLength(1)

    leaving.abort()
    await first
    await eventually(async () => expect((await post(at, body(700_000))).status).toBe(200))
    second.destroy()
  })

  test('those that wait for an upstream with a place for one count, and leave the queue when their client leaves', async () => {
    await using at = await standWith([silence, completion('fine')], {
      settings: { limits: { concurrent: 3 } },
      upstreams: { default: { url: 'http://127.0.0.1:9/v1', concurrency: 1 } },
    })
    const leaving = new AbortController()
    const waiting = [1, 2, 3].map(() => post(at, body(100), leaving.signal).catch((error: unknown) => error))
    await eventually(() => expect(at.upstream.requests).toHaveLength(1))
    await eventually(async () => expect((await post(at, body(100))).status).toBe(503))
    leaving.abort()
    await Promise.all(waiting)
    await eventually(async () => expect((await post(at, body(100))).status).toBe(200))
    // The two that left were never sent.
    expect(at.upstream.requests).toHaveLength(2)
  })
})

/** An answer with a status that no server may send. */
const unsendable: Script = (_, response) =>
  void response.socket?.end('HTTP/1.1 042 What\r\nContent-Length: 2\r\n\r\nok')

// An answer's headers are made behind all stages, those for pages of other origins among them: were the body held by a
// stage alone, whatever threw there would have kept its bytes for good.
describe('whatever ends a request, the bytes that were held for it are free', () => {
  test.each<[string, Script, Record<string, string>, number]>([
    ['a profile that is not there', completion('fine'), { 'x-foldgate-profile': 'none' }, 400],
    ['an answer that nobody can pass on', unsendable, { origin: 'https://page.example' }, 502],
  ])('%s', async (_, script, headers, status) => {
    await using at = await standWith([script, completion('fine')], {
      settings: { limits: { bytes_in_flight_mb: 1 }, cors: { origins: ['https://page.example'] } },
    })
    const failed = await fetch(`${at.url}/chat/completions`, { method: 'POST', body: body(700_000), headers })
    expect(failed.status).toBe(status)
    expect(await failed.text()).toContain(status === 502 ? '"upstream_broken"' : '"unknown_profile"')
    await eventually(async () => expect((await post(at, body(700_000))).status).toBe(200))
  })
})

// It is late by the clock of its arrival, which is told of each piece that comes.
test('a client that stops in the middle is told, and what was held for it is free', async () => {
  await using at = await standWith(completion('fine'), {
    settings: { limits: { idle_s: 7, concurrent: 1, bytes_in_flight_mb: 1 } },
  })
  const socket = await beginChat(at, 'Content-Length: 900000')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  socket.write('{"model":')
  await eventually(() => expect(at.foldgate.app.running()).toBe(1))
  const answer = readUntil(socket, '}}')
  await eventually(() => {
    vi.advanceTimersByTime(10_000)
    expect(at.foldgate.app.running()).toBe(0)
  })
  vi.useRealTimers()
  expect(await answer).toMatch(/^HTTP\/1\.1 408 [^]*for 7 s[^]*"code":"body_timeout"/)
  expect(at.upstream.requests).toEqual([])
  await eventually(async () => expect((await post(at, body(900_000))).status).toBe(200))
  socket.destroy()
})
