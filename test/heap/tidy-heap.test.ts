import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createHeapTidying } from '../../src/heap/tidy-heap.ts'

/** Garbage that nobody but a collection takes away. */
function garbage(): WeakRef<object> {
  return new WeakRef({ of: 'a load' })
}

test('what a load has left behind is collected once nothing is held any more', async () => {
  const heap = createHeapTidying({ quietMs: 20 })
  const left = garbage()
  heap.crowded()
  heap.over()
  // Whoever looks keeps it for as long as the look takes.
  for (let looks = 0; looks < 100 && left.deref() !== undefined; looks += 1) await setTimeout(50)
  expect(left.deref()).toBeUndefined()
})

test('small requests bring no collection about', async () => {
  const heap = createHeapTidying({ quietMs: 5 })
  const left = garbage()
  for (let request = 0; request < 100; request += 1) heap.over()
  await setTimeout(30)
  expect(left.deref()).toBeDefined()
})

test('a load that goes on is not kept waiting for it', async () => {
  const heap = createHeapTidying({ quietMs: 5 })
  const left = garbage()
  heap.crowded()
  heap.over()
  heap.crowded()
  await setTimeout(30)
  expect(left.deref()).toBeDefined()
  heap.over()
})
