import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createLagMeter } from '../../../src/activity/metrics/event-loop-lag.ts'

function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

function openMeter() {
  const meter = createLagMeter()
  onTestFinished(meter.close)
  return meter
}

test('a loop that was blocked shows, by its highest percentile and the sum', async () => {
  const meter = openMeter()
  await expect.poll(() => meter.read().count).toBeGreaterThan(2)
  const before = meter.read()
  block(300)
  await expect.poll(() => meter.read().percentiles.get(99) ?? 0).toBeGreaterThan(0.25)
  const after = meter.read()
  expect(after.count).toBeGreaterThan(before.count)
  expect(after.sumSeconds - before.sumSeconds).toBeGreaterThan(0.25)
  // By what the loop was asked for it did not wait.
  expect(after.percentiles.get(50)).toBeLessThan(0.2)
})

test('before anything was measured it is 0, not unknown', () => {
  expect(openMeter().read()).toEqual({
    percentiles: new Map([
      [50, 0],
      [90, 0],
      [99, 0],
    ]),
    sumSeconds: 0,
    count: 0,
  })
})

// The time between two turns is a little below what was asked for now and then: the mean fell, the sum with it, and
// Prometheus takes a sum that falls for a restart, so that rates showed the whole sum once more.
test('neither sum nor count ever falls', async () => {
  const meter = openMeter()
  block(50)
  let last = meter.read()
  for (let time = 0; time < 15; time += 1) {
    await setTimeout(20)
    const next = meter.read()
    expect(next.sumSeconds).toBeGreaterThanOrEqual(last.sumSeconds)
    expect(next.count).toBeGreaterThanOrEqual(last.count)
    last = next
  }
})
