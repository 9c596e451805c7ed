import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import { expect, test, vi } from 'vitest'
import { createFactsReader } from '../../../src/formats/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { digest, readBytes } from '../../../src/pipeline/read/read-chat.ts'
import { createLastBodies, type LastBodies } from '../../../src/pipeline/read/last-bodies.ts'

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
  const idle = open({ idleMs: 50 })
  await read(idle, 'one', 'a')
  await read(idle, 'one', 'b')
  await vi.waitFor(() => expect(idle.heldBytes()).toBe(0))
  expect(await read(idle, 'one', 'a')).toBe(0)
  const bodies = open()
  await read(bodies, 'one', 'c')
  bodies.clear()
  expect(bodies.heldBytes()).toBe(0)
  expect(await read(bodies, 'one', 'c')).toBe(0)
})
