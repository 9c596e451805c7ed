import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import { afterEach, expect, test, vi } from 'vitest'
import { createFactsReader } from '../../../src/formats/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { digest, readBytes } from '../../../src/pipeline/read/read-chat.ts'
import { createLastBodies, type LastBodies } from '../../../src/pipeline/read/last-bodies.ts'
import { growing, longRun, type TestMessage } from '../../support/conversations.ts'
import { completion } from '../../support/fake-upstream.ts'
import { chatOf, postChat } from '../../support/post-chat.ts'
import { standWith } from '../../support/stand.ts'

const KILOBYTE = 1024

/** Reads a body of about `kilobytes`; resolves with how many of its messages were known. */
async function read(lastBodies: LastBodies, scope: string, name: string, kilobytes = 10): Promise<number> {
  const messages = Array.from({ length: kilobytes }, (_, index) => ({
    role: 'user',
    content: `${name} ${index} ${'x'.repeat(KILOBYTE - 40)}`,
  }))
  const json = JSON.stringify({ messages })
  const body = Buffer.allocUnsafeSlow(json.length)
  body.write(json)
  const chat = await readBytes(chatCompletions, body, scope, {
    readFacts: createFactsReader(digest, { entriesMax: 1000 }),
    limits: bodyLimits,
    lastBodies,
  })
  if (typeof chat === 'string') throw new Error(chat)
  return chat.grewFrom?.shared ?? 0
}

const open = (limits: Partial<Parameters<typeof createLastBodies>[0]> = {}) =>
  createLastBodies({ bytesMax: 100 * KILOBYTE, bodyBytesMin: 0, idleMs: 60_000, ...limits })

afterEach(() => {
  vi.useRealTimers()
})

test('a body is never found by another scope', async () => {
  const bodies = open()
  await read(bodies, 'one', 'a')
  expect(await read(bodies, 'two', 'a')).toBe(0)
  expect(await read(bodies, 'one', 'a')).toBe(10)
})

test('what is held stays within the bound, and what was not used for longest goes first', async () => {
  const bodies = open()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await read(bodies, 'one', name)
  for (const name of ['a', 'f', 'g', 'h']) {
    await read(bodies, 'one', name)
    expect(bodies.heldBytes()).toBeLessThanOrEqual(100 * KILOBYTE)
    expect(bodies.heldBytes()).toBeGreaterThan(50 * KILOBYTE)
  }
  expect(await read(bodies, 'one', 'b')).toBe(0)
  expect(await read(bodies, 'one', 'h')).toBe(10)
})

test('a body that goes on takes the place of the one before, and a branch stands beside it', async () => {
  const bodies = open({ bytesMax: 1000 * KILOBYTE })
  await read(bodies, 'one', 'a', 10)
  const held = bodies.heldBytes()
  await read(bodies, 'one', 'a', 11)
  expect(bodies.heldBytes()).toBeLessThan(held * 1.2)
  await read(bodies, 'one', 'a', 5)
  expect(bodies.heldBytes()).toBeGreaterThan(held * 1.4)
  expect(await read(bodies, 'one', 'a', 12)).toBe(11)
})

test('a bound of 0 holds nothing, nor is a body held that is larger than the bound or too small', async () => {
  const none = open({ bytesMax: 0 })
  const large = open({ bytesMax: 5 * KILOBYTE })
  const small = open({ bodyBytesMin: 20 * KILOBYTE })
  for (const bodies of [none, large, small]) {
    await read(bodies, 'one', 'a')
    expect(bodies.heldBytes()).toBe(0)
    expect(await read(bodies, 'one', 'a')).toBe(0)
  }
})

test('what no request goes on from is dropped, and all of it when that is asked for', async () => {
  vi.useFakeTimers()
  const bodies = open({ idleMs: 1000 })
  await read(bodies, 'one', 'a')
  vi.advanceTimersByTime(600)
  await read(bodies, 'one', 'b')
  const both = bodies.heldBytes()
  vi.advanceTimersByTime(600)
  expect(bodies.heldBytes()).toBe(both / 2)
  vi.advanceTimersByTime(600)
  expect(bodies.heldBytes()).toBe(0)
  await read(bodies, 'one', 'c')
  bodies.clear()
  expect(bodies.heldBytes()).toBe(0)
  expect(await read(bodies, 'one', 'c')).toBe(0)
})

/** Requests of one conversation, each with more than a body has to have to be held. */
function requests(): Buffer[] {
  const [system, ...run] = longRun(16, 7)
  const long = { role: 'system', content: `${String(system?.['content'])} ${'word '.repeat(14_000)}` }
  const whole = [...growing([long, ...run])]
  const answered: TestMessage = { role: 'assistant', content: 'Done.' }
  const branch = [...(whole[4] ?? []), answered, { role: 'user', content: 'Now the other one, é😀.' }]
  const changed = whole.flatMap((some, index) => [
    Buffer.from(JSON.stringify(chatOf(some))),
    // Settings before and behind the messages, and other spaces: the messages only move.
    ...(index % 7 === 3
      ? [Buffer.from(`{"temperature":${index},${JSON.stringify(chatOf(some)).slice(1)}`)]
      : []),
    ...(index % 7 === 5 ? [Buffer.from(JSON.stringify(chatOf(some), null, 1))] : []),
  ])
  return [...changed, Buffer.from(JSON.stringify(chatOf(branch))), ...changed.slice(0, 3)]
}

const sent = (received: readonly { readonly body: Buffer }[]): readonly string[] =>
  received.map(({ body }) => body.toString('utf8'))

test('what reaches the upstream is the same with the latest bodies at hand and without', async () => {
  const profile = { window: { tokens: 24_000, output_reserve: 512 } }
  await using holding = await standWith(completion('fine'), { profile })
  await using reading = await standWith(completion('fine'), {
    profile,
    settings: { limits: { last_bodies_mb: 0 } },
  })
  let compacted = 0
  for (const body of requests()) {
    const [one, other] = await Promise.all([postChat(holding.url, body), postChat(reading.url, body)])
    expect([one.status, one.action]).toEqual([200, other.action])
    if (one.action === 'compacted') compacted += 1
  }
  expect(compacted).toBeGreaterThan(8)
  expect(sent(holding.upstream.requests)).toEqual(sent(reading.upstream.requests))
})
