import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { profileSchema, type Profile } from '../../../src/profiles/schema.ts'
import { rawExchange } from '../../support/raw-client.ts'
import { chatOf } from '../../support/post-chat.ts'
import { adminStand, type AdminStand } from '../admin-stand.ts'
import type { AdminAnswer } from '../ask-admin.ts'

const asked = chatOf([{ role: 'user', content: 'hello' }])

function post(
  at: AdminStand,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
  query = '',
): Promise<AdminAnswer> {
  return at.ask(`/explain${query}`, { method: 'POST', body, headers })
}

function profileIn(answer: AdminAnswer): string {
  expect([answer.status, answer.header('content-type')]).toEqual([200, 'application/json'])
  return z.looseObject({ profile: z.looseObject({ name: z.string() }) }).parse(JSON.parse(answer.text))
    .profile.name
}

const profiles: ReadonlyMap<string, Profile> = new Map(
  ['default', 'other', 'third'].map((name) => [name, { ...profileSchema.parse({}), name }]),
)

test('a body is explained, and nothing is sent, recorded or shown', async () => {
  await using at = await adminStand()
  const answer = await post(at, JSON.stringify(asked))
  expect(profileIn(answer)).toBe('default')
  expect(answer.header('cache-control')).toBe('no-store')
  expect(at.upstream.requests).toEqual([])
  expect((await at.ask('/conversations')).text).toBe('{"conversations":[],"unread":[]}')
  expect((await at.ask('/events')).text).toBe('{"events":[],"before":null}')
})

test('under the profile that the query names, before the one of the header; an unknown one is a 400', async () => {
  await using at = await adminStand({ profiles })
  const body = JSON.stringify(asked)
  expect(profileIn(await post(at, body))).toBe('default')
  expect(profileIn(await post(at, body, { 'x-foldgate-profile': 'other' }))).toBe('other')
  expect(profileIn(await post(at, body, { 'x-foldgate-profile': 'other' }, '?profile=third'))).toBe('third')
  for (const unknown of [
    await post(at, body, {}, '?profile=PLANTED'),
    await post(at, body, { 'x-foldgate-profile': 'PLANTED' }),
  ]) {
    expect([unknown.status, unknown.code]).toEqual([400, 'unknown_profile'])
  }
})

describe('the body', () => {
  test('may be packed as clients pack theirs; what is none is a 400 that says so, and repeats nothing', async () => {
    await using at = await adminStand({ settings: { limits: { body_mb: 1 } } })
    const packed = gzipSync(JSON.stringify(asked))
    expect(profileIn(await post(at, packed, { 'content-encoding': 'gzip' }))).toBe('default')
    for (const [body, headers] of [
      ['hello', {}],
      ['', {}],
      ['{"prompt":"PLANTED"}', {}],
      [JSON.stringify(asked), { 'content-encoding': 'PLANTED' }],
      [JSON.stringify(asked), { 'content-encoding': 'gzip' }],
      // Unpacked it exceeds the limit by far.
      [gzipSync(Buffer.alloc(10_000_000)), { 'content-encoding': 'gzip' }],
    ] as const) {
      const answer = await post(at, body, headers)
      expect([headers, answer.status, answer.code]).toEqual([headers, 400, 'malformed_request'])
      expect(answer.text).not.toContain('PLANTED')
    }
  })

  test('has the limits of all bodies: too large, and more at a time than may be in flight', async () => {
    await using at = await adminStand({ settings: { limits: { body_mb: 1, bytes_in_flight_mb: 1 } } })
    const large = await post(at, 'x'.repeat(1_048_577))
    expect([large.status, large.code]).toEqual([413, 'body_too_large'])
    const endless = await rawExchange(
      at.port,
      `POST /explain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(17)}`,
    )
    expect(endless.statusLine).toMatch(/ (413|503) /)
    // And gives back what it took.
    for (let time = 0; time < 3; time += 1) {
      expect((await post(at, 'x'.repeat(1_000_000))).code).toBe('malformed_request')
    }
    expect(profileIn(await post(at, JSON.stringify(asked)))).toBe('default')
  })
})
