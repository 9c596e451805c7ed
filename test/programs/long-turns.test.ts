import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const longTurns = fileURLToPath(new URL('long-turns.ts', import.meta.url))

// A coding agent's turns of 4 MB had everything collected every other time, 40 ms each: V8 let the heap grow by a tenth.
test('few of 40 turns of a long conversation, in a process of their own, have everything collected', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [longTurns])
  // V8 calls a flag unknown on standard error: on Node 22 it did at every start.
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^\d+$/)
  expect(Number(stdout)).toBeLessThan(5)
})
