import { execFile } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createHeapTidying } from '../../src/heap/tidy-heap.ts'

/** Garbage that nobody but a collection takes away. */
function garbage(): WeakRef<object> {
  return new WeakRef({ of: 'a load' })
}

test('what a load has left behind is collected once nothing is held any more', async () => {
  const tidy = createHeapTidying(20)
  const left = garbage()
  tidy(true)
  tidy(false)
  // Whoever looks keeps it for as long as the look takes.
  for (let looks = 0; looks < 100 && left.deref() !== undefined; looks += 1) await setTimeout(50)
  expect(left.deref()).toBeUndefined()
})

test('a load that goes on is not kept waiting for it', async () => {
  const tidy = createHeapTidying(5)
  const left = garbage()
  tidy(true)
  tidy(false)
  tidy(true)
  await setTimeout(30)
  expect(left.deref()).toBeDefined()
  tidy(false)
})

const longTurns = fileURLToPath(new URL('long-turns.ts', import.meta.url))

/** How often everything is collected over 40 turns of a long conversation, in a process of their own. */
async function collectionsOverLongTurns(): Promise<number> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [longTurns])
  // V8 calls a flag unknown on standard error: on Node 22 it did at every start.
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^\d+$/)
  return Number(stdout)
}

// A coding agent's turns of 4 MB had everything collected every other time, 40 ms each: V8 let the heap grow by a tenth.
test('few turns of a long conversation have everything collected', async () => {
  expect(await collectionsOverLongTurns()).toBeLessThan(5)
})
