/**
 * Copied into a checkout whose sources have probes: hears which places a test reaches. A place that is reached where no
 * test is known (in a program that a test started) is written down with the process that started it.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

type Watched = { test: string; readonly reached: Map<string, Set<number | string>> }

declare global {
  /** What the test that runs has reached; only in the processes of vitest. */
  var watchedTests: Watched | undefined
}

const heard = new Set<number | string>()

export function reached(marks: readonly (number | string)[]): void {
  const watched = globalThis.watchedTests
  if (watched === undefined) return reachedElsewhere(marks)
  let all = watched.reached.get(watched.test)
  if (all === undefined) {
    all = new Set()
    watched.reached.set(watched.test, all)
  }
  for (const mark of marks) all.add(mark)
}

// --- internal ---

const folder = join(import.meta.dirname, 'reached')

function reachedElsewhere(marks: readonly (number | string)[]): void {
  const fresh = marks.filter((mark) => !heard.has(mark))
  if (fresh.length === 0) return
  for (const mark of fresh) heard.add(mark)
  appendFileSync(join(folder, 'elsewhere.jsonl'), `${JSON.stringify({ test: startedBy(), marks: fresh })}\n`)
}

function startedBy(): string {
  try {
    return readFileSync(join(folder, `${isMainThread ? process.ppid : process.pid}.test`), 'utf8')
  } catch {
    return ''
  }
}
