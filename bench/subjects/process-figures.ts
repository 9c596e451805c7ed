import { readFileSync } from 'node:fs'
import type { Subject } from './subject.ts'

/** Clock ticks a second in /proc: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

/** CPU time that a process has used, user and system, in microseconds. Linux only. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name stands in parentheses and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1_000_000
}

/** The same of a subject; null where nothing stands between. */
export function cpuOf({ pid }: Subject): number | null {
  return pid === null ? null : cpuMicroseconds(pid)
}

/** Resident memory of a process, in megabytes. Linux only. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}
