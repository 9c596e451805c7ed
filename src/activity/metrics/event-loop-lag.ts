import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How long work had to wait for the event loop, in seconds. */
export type Lag = {
  /** By percentile, the higher of the minute before and the one that runs. */
  readonly percentiles: ReadonlyMap<number, number>
  /** Of all the time. */
  readonly sumSeconds: number
  readonly count: number
}

export type LagMeter = {
  readonly read: () => Lag
  readonly close: () => void
}

/** Measures from now on. */
export function createLagMeter(): LagMeter {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  let before = { percentiles: new Map<number, number>(), sumSeconds: 0, count: 0 } satisfies Lag
  let highestSumSeconds = 0

  function current(): Lag {
    const { count } = histogram
    const seconds = (nanoseconds: number): number =>
      // Node's figure is the time between two turns: without lag it is the resolution.
      count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000)
    return {
      percentiles: new Map(
        PERCENTILES.map((percentile) => [percentile, seconds(histogram.percentile(percentile))]),
      ),
      sumSeconds: seconds(histogram.mean) * count,
      count,
    }
  }

  function joined(): Lag {
    const now = current()
    // Turns that come early make the mean smaller; a sum that falls would be taken for a restart.
    highestSumSeconds = Math.max(highestSumSeconds, before.sumSeconds + now.sumSeconds)
    return {
      percentiles: new Map(
        PERCENTILES.map((percentile) => [
          percentile,
          Math.max(before.percentiles.get(percentile) ?? 0, now.percentiles.get(percentile) ?? 0),
        ]),
      ),
      sumSeconds: highestSumSeconds,
      count: before.count + now.count,
    }
  }

  const timer = setInterval(() => {
    const { sumSeconds, count } = joined()
    before = { percentiles: new Map(current().percentiles), sumSeconds, count }
    histogram.reset()
  }, PERIOD_MS)
  timer.unref()

  return {
    read: joined,
    close: () => {
      clearInterval(timer)
      histogram.disable()
    },
  }
}

// --- internal ---

const PERCENTILES = [50, 90, 99] as const

const PERIOD_MS = 60_000

/** How often the loop is asked, in milliseconds. */
const RESOLUTION_MS = 20
