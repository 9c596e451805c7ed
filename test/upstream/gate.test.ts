import { expect, test } from 'vitest'
import { createGate } from '../../src/upstream/gate.ts'

test('lets so many in and the others in the order in which they came', async () => {
  const gate = createGate(1)
  const order: string[] = []
  const leaveFirst = await gate.enter(null)
  const second = gate.enter(null).then((leave) => {
    order.push('second')
    return leave
  })
  const third = gate.enter(null).then((leave) => {
    order.push('third')
    return leave
  })
  expect(gate.busy()).toBe(3)
  leaveFirst()
  leaveFirst()
  const leaveSecond = await second
  expect(order).toEqual(['second'])
  leaveSecond()
  const leaveThird = await third
  leaveThird()
  expect(gate.busy()).toBe(0)
})

test('who gives up waiting leaves the queue', async () => {
  const gate = createGate(1)
  const leave = await gate.enter(null)
  const controller = new AbortController()
  const waiting = gate.enter(controller.signal)
  const behind = gate.enter(null)
  controller.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  expect(gate.busy()).toBe(2)
  leave()
  const leaveBehind = await behind
  leaveBehind()
  expect(gate.busy()).toBe(0)
})

test('without a limit everybody enters', async () => {
  const gate = createGate(null)
  const leaves = await Promise.all(Array.from({ length: 100 }, () => gate.enter(null)))
  expect(gate.busy()).toBe(100)
  for (const leave of leaves) leave()
  expect(gate.busy()).toBe(0)
})
