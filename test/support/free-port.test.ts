import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from './free-port.ts'

// A DELETE was answered 404 although the conversation was there. The admin port of its Foldgate had been chosen by the
// system and let go again: another worker's server could be given it in the meantime.
test('no port is given twice, and none that the system gives to whoever asks', async () => {
  const ports: number[] = []
  while (ports.length < 100) ports.push(await freePort())
  expect(new Set(ports).size).toBe(ports.length)
  expect(Math.max(...ports)).toBeLessThan(32_768)
})

test('one that is taken is passed over', async () => {
  const next = (await freePort()) + 1
  await using taken = createServer()
  // Where somebody else has it already, it is taken as well.
  await once(taken.listen(next, '127.0.0.1'), 'listening').catch(() => {})
  expect(await freePort()).not.toBe(next)
})
