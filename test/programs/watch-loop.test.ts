import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { loopReport, watchingFlags } from '../support/loop-gaps.ts'
import type { LoopReport } from '../support/watch-loop.ts'

test('a turn of the loop is measured by its work, not by what it waits for; garbage collection is told apart', async () => {
  const burnt = await reportOf('setTimeout(burn, 20, 30); setTimeout(burn, 200, 80); setTimeout(ask, 400)')
  expect(burnt.longest.workMs).toBeGreaterThanOrEqual(79)
  expect(burnt.longest.workMs).toBeLessThan(160)
  // Far more than the start of the program takes: that once was the longest turn, on a busy machine.
  const { longest, longestWithoutGarbage } = await reportOf(
    'setTimeout(() => { for (let count = 0; count < 200; count += 1) gc() }, 20); setTimeout(ask, 1_000)',
  )
  expect(longest.garbageMs).toBeGreaterThan(longest.workMs / 2)
  expect(longestWithoutGarbage.workMs - longestWithoutGarbage.garbageMs).toBeLessThan(longest.workMs / 2)
})

const helpers = `
  const usedMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1000
  function burn(ms) { for (const began = usedMs(); usedMs() - began < ms;); }
  function ask() { process.emit('message', 'take') }
`

async function reportOf(script: string): Promise<LoopReport> {
  const child = spawn(process.execPath, ['--expose-gc', ...watchingFlags, '-e', `${helpers}${script}`], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const told = await new Promise<unknown>((resolve) => {
    child.once('message', resolve)
  })
  child.kill()
  return loopReport.parse(told)
}
