/**
 * What a process does for turns of a long conversation, as far as its heap is concerned: facts that stay, and bodies
 * of 4 MB of three conversations in turn, each in the place of the conversation's one before. Prints how often everything
 * was collected.
 */
import { PerformanceObserver, constants } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { createHeapTidying } from '../../src/heap/tidy-heap.ts'
import { bytesPassed, exchangeOver } from '../../src/heap/young-garbage.ts'
import { isObject } from '../support/strict-upstream/wire-message.ts'

const FACTS = 400_000
const CONVERSATIONS = 3
const TURNS = 40
const BODY_BYTES = 4_000_000
const PIECE_BYTES = 65_536
/** V8 lets a heap grow the less, the less is allocated in the time that collecting takes. */
const PAUSE_MS = 60

createHeapTidying()

let collections = 0
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (isOfEverything(entry)) collections += 1
}).observe({ entryTypes: ['gc'] })

const facts = Array.from({ length: FACTS }, (_, index) => ({ key: `message ${index}`, bytes: index }))
const lastBodies = new Map<number, Buffer>()
// What making the facts took is not counted.
await setTimeout(100)
collections = 0
for (let turn = 0; turn < TURNS; turn += 1) {
  const pieces: Buffer[] = []
  for (let received = 0; received < BODY_BYTES; received += PIECE_BYTES)
    pieces.push(Buffer.alloc(PIECE_BYTES, turn))
  bytesPassed(BODY_BYTES)
  lastBodies.set(turn % CONVERSATIONS, Buffer.concat(pieces))
  exchangeOver()
  await setTimeout(PAUSE_MS)
}
await setTimeout(PAUSE_MS)
process.stdout.write(
  String(facts.length === FACTS && lastBodies.size === CONVERSATIONS ? collections : Number.NaN),
)

function isOfEverything(entry: object): boolean {
  const detail: unknown = 'detail' in entry ? entry.detail : null
  return isObject(detail) && detail['kind'] === constants.NODE_PERFORMANCE_GC_MAJOR
}
