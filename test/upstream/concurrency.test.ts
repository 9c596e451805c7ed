import { describe, expect, test } from 'vitest'
import { createGate, GaveWayError, type Gate } from '../../src/upstream/concurrency.ts'

/** How many places are free. */
function free(gate: Gate): number {
  let count = 0
  while (gate.enterNow()) count += 1
  for (let left = count; left > 0; left -= 1) gate.leave()
  return count
}

test('lets so many in and the others in the order in which they came', async () => {
  const gate = createGate(1)
  const order: string[] = []
  await gate.enter(null)
  const second = gate.enter(null).then(() => order.push('second'))
  const third = gate.enter(null).then(() => order.push('third'))
  expect(free(gate)).toBe(0)
  gate.leave()
  await second
  expect(order).toEqual(['second'])
  gate.leave()
  await third
  gate.leave()
  expect(free(gate)).toBe(1)
})

describe('work that gives way', () => {
  test('takes a place that is free, and none that is not', async () => {
    const gate = createGate(1)
    const idle = gate.enterIdle()
    expect(idle).not.toBeNull()
    expect(free(gate)).toBe(0)
    expect(gate.enterIdle()).toBeNull()
    idle?.leave()
    await gate.enter(null)
    expect(gate.enterIdle()).toBeNull()
    gate.leave()
    expect(gate.enterIdle()).not.toBeNull()
  })

  test('is told as soon as somebody waits for its place, who gets it when it has left', async () => {
    const gate = createGate(1)
    const idle = gate.enterIdle()
    expect(idle?.wanted.aborted).toBe(false)
    let isIn = false
    const entering = gate.enter(null).then(() => {
      isIn = true
    })
    expect(idle?.wanted.aborted).toBe(true)
    expect(idle?.wanted.reason).toBeInstanceOf(GaveWayError)
    await Promise.resolve()
    expect(isIn).toBe(false)
    idle?.leave()
    await entering
    expect(gate.enterIdle()).toBeNull()
    gate.leave()
    expect(free(gate)).toBe(1)
  })

  test('gives way one by one: as many as wait, and no more', async () => {
    const gate = createGate(3)
    const idlers = [gate.enterIdle(), gate.enterIdle(), gate.enterIdle()]
    const entering = [gate.enter(null), gate.enter(null)]
    expect(idlers.filter((idle) => idle?.wanted.aborted)).toHaveLength(2)
    for (const idle of idlers) if (idle?.wanted.aborted === true) idle.leave()
    await Promise.all(entering)
    expect(free(gate)).toBe(0)
    for (const _ of entering) gate.leave()
    expect(free(gate)).toBe(2)
  })

  test('does not come before those who wait already', async () => {
    const gate = createGate(1)
    await gate.enter(null)
    const waiting = gate.enter(null)
    gate.leave()
    expect(gate.enterIdle()).toBeNull()
    await waiting
    gate.leave()
  })
})
