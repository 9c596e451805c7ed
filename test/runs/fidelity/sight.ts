import type { Reading } from './reading.ts'

/** What a model sees of a conversation at one request. */
export type Sight = {
  /** From now on these messages are seen, and no others. Costs what has changed since the last time. */
  readonly show: (readings: readonly Reading[]) => void
  readonly names: (thing: string) => boolean
  readonly says: (run: string) => boolean
}

export function openSight(): Sight {
  let shown: ReadonlySet<Reading> = new Set()
  const things = new Map<string, number>()
  const runs = new Map<string, number>()
  const change = (reading: Reading, by: 1 | -1) => {
    for (const thing of reading.things) things.set(thing, (things.get(thing) ?? 0) + by)
    for (const run of reading.runs) runs.set(run, (runs.get(run) ?? 0) + by)
  }
  return {
    show: (readings) => {
      const next = new Set(readings)
      for (const reading of shown) if (!next.has(reading)) change(reading, -1)
      for (const reading of next) if (!shown.has(reading)) change(reading, 1)
      shown = next
    },
    names: (thing) => (things.get(thing) ?? 0) > 0,
    says: (run) => (runs.get(run) ?? 0) > 0,
  }
}
