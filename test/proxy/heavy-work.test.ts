import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createHeavyWork } from '../../src/proxy/heavy-work.ts'

const BYTES_MIN = 1_000

function present(): AbortSignal {
  return new AbortController().signal
}

/** Takes a turn, and tells whether it has it by now. */
async function hasTurn(taking: Promise<void>): Promise<boolean> {
  let isTaken = false
  void taking.then(() => {
    isTaken = true
  })
  await setImmediate()
  return isTaken
}

test('conversations of which much is new take turns, in the order in which they came', async () => {
  const work = createHeavyWork({ bytesMin: BYTES_MIN })
  const [one, two, three] = [present(), present(), present()].map((client) => work.begin(client))
  await one?.take(BYTES_MIN)
  const second = two?.take(BYTES_MIN) ?? Promise.reject(new Error('there are three'))
  const third = three?.take(BYTES_MIN) ?? Promise.reject(new Error('there are three'))
  expect([await hasTurn(second), await hasTurn(third)]).toEqual([false, false])
  one?.end()
  // Said twice it ends nobody else's.
  one?.end()
  expect([await hasTurn(second), await hasTurn(third)]).toEqual([true, false])
  two?.end()
  expect(await hasTurn(third)).toBe(true)
})

test('what is small waits for none of them', async () => {
  const work = createHeavyWork({ bytesMin: BYTES_MIN })
  await work.begin(present()).take(BYTES_MIN)
  const small = work.begin(present())
  expect(await hasTurn(small.take(BYTES_MIN - 1))).toBe(true)
  small.end()
})

test('who leaves while it waits takes no turn', async () => {
  const work = createHeavyWork({ bytesMin: BYTES_MIN })
  const running = work.begin(present())
  await running.take(BYTES_MIN)
  const client = new AbortController()
  const left = work.begin(client.signal)
  const waiting = left.take(BYTES_MIN)
  client.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  left.end()
  running.end()
  expect(await hasTurn(work.begin(present()).take(BYTES_MIN))).toBe(true)
})
