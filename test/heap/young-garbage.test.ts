import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bytesPassed, exchangeOver } from '../../src/heap/young-garbage.ts'

const MEGABYTE = 1024 * 1024

/** Bodies that came in pieces, and are gone. */
function receive(bytes: number): void {
  for (let received = 0; received < bytes; received += 65_536) Buffer.alloc(65_536)
}

function heldBytes(): number {
  return process.memoryUsage().arrayBuffers
}

// Of bodies of 200 kB V8 let 64 MB gather, and then collected all that lived: a relay that inspects nothing took up to
// twice the CPU of one with a small heap, and one request in a hundred waited for 40 ms.
test('the buffers of bodies that have passed go with the exchange that they were enough with', async () => {
  const beforeBytes = heldBytes()
  receive(8 * MEGABYTE)
  bytesPassed(8 * MEGABYTE)
  exchangeOver()
  // V8 frees what it has found dead beside other work.
  await expect.poll(() => heldBytes() - beforeBytes).toBeLessThan(2 * MEGABYTE)
})

test('a body of any length is not waited for', async () => {
  const beforeBytes = heldBytes()
  receive(16 * MEGABYTE)
  bytesPassed(16 * MEGABYTE)
  await expect.poll(() => heldBytes() - beforeBytes).toBeLessThan(2 * MEGABYTE)
})

// V8 may collect by itself at any time: not each time.
test('small exchanges bring no collection about', { retry: 3 }, async () => {
  const beforeBytes = heldBytes()
  receive(3 * MEGABYTE)
  for (let exchange = 0; exchange < 100; exchange += 1) {
    bytesPassed(2_000)
    exchangeOver()
  }
  await setTimeout(30)
  expect(heldBytes() - beforeBytes).toBeGreaterThanOrEqual(3 * MEGABYTE)
})
