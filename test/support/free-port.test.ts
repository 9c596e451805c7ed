import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from './free-port.ts'

// A DELETE was answered 404 although the conversation was there: its Foldgate's admin port had been the system's, was
// let go, and another worker's server could be given it in the meantime.
test('no port is given twice, none that is taken, and none that the system gives to others', async () => {
  const first = await freePort()
  const taken = createServer().listen(first + 1, '127.0.0.1')
  await once(taken, 'listening').catch(() => {})
  const ports = [first]
  while (ports.length < 100) ports.push(await freePort())
  taken.close()
  expect(new Set(ports).size).toBe(ports.length)
  expect(ports).not.toContain(first + 1)

  const chosen = createServer().listen(0, '127.0.0.1')
  await once(chosen, 'listening')
  const address = chosen.address()
  chosen.close()
  expect(Math.max(...ports)).toBeLessThan(typeof address === 'object' ? (address?.port ?? 0) : 0)
})
