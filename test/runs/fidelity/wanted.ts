import type { Reading } from './reading.ts'
import type { Sight } from './sight.ts'
import type { Tally } from './tally.ts'

/** What the true next message takes up again of what was there. */
export type Wanted = {
  readonly things: readonly string[]
  /** Those of them that the newest suffix has lost. */
  readonly far: readonly string[]
  readonly runs: readonly string[]
}

/** What of the next message stands in the whole history; what it brings in anew no view can hold. */
export function wantedOf(next: Reading, history: Sight, suffix: Sight): Wanted {
  const things = [...next.things].filter(history.names)
  return {
    things,
    far: things.filter((thing) => !suffix.names(thing)),
    runs: [...next.runs].filter(history.says),
  }
}

/** How much of it a view still holds. */
export function held(wanted: Wanted, view: Sight): Partial<Tally> {
  const names = (things: readonly string[]) => things.filter(view.names).length
  return {
    things: wanted.things.length,
    thingsHeld: names(wanted.things),
    farThings: wanted.far.length,
    farThingsHeld: names(wanted.far),
    runs: wanted.runs.length,
    runsHeld: wanted.runs.filter(view.says).length,
  }
}
