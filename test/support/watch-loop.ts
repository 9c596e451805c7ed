/**
 * Loaded into a program with `--import`: measures the work of each turn of its event loop, and tells by IPC.
 *
 * In processor time of the main thread: the clock would count what a busy machine does meanwhile. An immediate that holds
 * nobody runs once in each turn and wakes no loop that has nothing to do, so the watch itself changes nothing.
 */
import { performance, PerformanceObserver } from 'node:perf_hooks'

/** One turn of the loop in which much was done. */
export type Turn = {
  /** Processor time, in milliseconds. */
  readonly workMs: number
  /** How much of it was garbage collection, about: that is told by the clock, and taken by the share that the turn had. */
  readonly garbageMs: number
  /** By the clock that profiles tell by, in microseconds. */
  readonly beganMicros: number
  readonly endedMicros: number
}

/** What is answered to `take`: the turns with the most work since the last time, with and without garbage collection. */
export type LoopReport = { readonly longest: Turn; readonly longestWithoutGarbage: Turn }

type Noted = Omit<Turn, 'garbageMs'>

/** Node 22 tells the whole process's time alone, which is a little more. */
const clock: { readonly cpuUsage: Usage; readonly threadCpuUsage?: Usage } = process

type Usage = () => { readonly user: number; readonly system: number }

/** Less is never the longest that matters, in milliseconds. */
const NOTED_MS = 5
const NOTED_MAX = 20_000

const clockOffsetMicros = Number(process.hrtime.bigint() / 1_000n) - performance.now() * 1_000

let turns: Noted[] = []
let collections: { readonly beganMicros: number; readonly endedMicros: number }[] = []
let last = look()

setImmediate(turn).unref()
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    const beganMicros = startTime * 1_000 + clockOffsetMicros
    if (duration > 0.2) collections.push({ beganMicros, endedMicros: beganMicros + duration * 1_000 })
  }
  if (collections.length > NOTED_MAX) collections = collections.slice(-NOTED_MAX / 2)
}).observe({ entryTypes: ['gc'] })
process.on('message', (question) => {
  // Entries of collections come a turn later.
  if (question === 'take') setImmediate(() => setImmediate(tell))
})
process.channel?.unref()

function turn(): void {
  const now = look()
  const workMs = now.usedMs - last.usedMs
  if (workMs >= NOTED_MS && turns.length < NOTED_MAX)
    turns.push({ workMs, beganMicros: last.atMicros, endedMicros: now.atMicros })
  last = now
  setImmediate(turn).unref()
}

function look(): { readonly usedMs: number; readonly atMicros: number } {
  const { user, system } = clock.threadCpuUsage?.() ?? clock.cpuUsage()
  return { usedMs: (user + system) / 1_000, atMicros: performance.now() * 1_000 + clockOffsetMicros }
}

function tell(): void {
  const whole = turns.map(withGarbage)
  const report: LoopReport = {
    longest: most(whole, ({ workMs }) => workMs),
    longestWithoutGarbage: most(whole, ({ workMs, garbageMs }) => workMs - garbageMs),
  }
  turns = []
  collections = []
  process.send?.(report)
}

function withGarbage(noted: Noted): Turn {
  const { workMs, beganMicros, endedMicros } = noted
  const collectedMicros = collections.reduce(
    (sum, each) =>
      sum + Math.max(0, Math.min(each.endedMicros, endedMicros) - Math.max(each.beganMicros, beganMicros)),
    0,
  )
  const share = Math.min(1, (workMs * 1_000) / (endedMicros - beganMicros))
  return { ...noted, garbageMs: (collectedMicros / 1_000) * share }
}

function most(all: readonly Turn[], by: (turn: Turn) => number): Turn {
  const nothing: Turn = { workMs: 0, garbageMs: 0, beganMicros: 0, endedMicros: 0 }
  return all.reduce((one, other) => (by(other) > by(one) ? other : one), nothing)
}
