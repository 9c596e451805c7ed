import type { Sample } from './load-rounds.ts'

/** One line for each figure: its course, and where it began, peaked and ended. */
export function curvesOf(samples: readonly Sample[]): string {
  const figures: [string, (sample: Sample) => number][] = [
    ['memory, MB', (sample) => sample.memoryMegabytes],
    ['sockets', (sample) => sample.sockets],
    ['files', (sample) => sample.files],
    ['in flight', (sample) => sample.inFlight],
    ['answers a second', (sample) => sample.answers],
    ['refused a second', (sample) => sample.refused],
  ]
  const title = `${' '.repeat(NAME_WIDTH)} ${'|'.padEnd(COLUMNS)} first   peak   last`
  return [title, ...figures.map(([name, read]) => lineOf(name, samples.map(read)))].join('\n')
}

// --- internal ---

const NAME_WIDTH = 17

/** Longer courses are drawn by the largest value of each column. */
const COLUMNS = 60

const bars = '▁▂▃▄▅▆▇█'

function lineOf(name: string, values: readonly number[]): string {
  const peak = Math.max(...values, 1)
  const columns = Math.min(COLUMNS, values.length)
  const drawn = Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * values.length) / columns)
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / columns))
    const share = Math.max(...values.slice(from, to)) / peak
    return bars[Math.min(bars.length - 1, Math.floor(share * bars.length))]
  }).join('')
  const shown = [values.at(0), Math.max(...values), values.at(-1)].map((value) =>
    String(Math.round(value ?? 0)).padStart(6),
  )
  return `${name.padEnd(NAME_WIDTH)} ${drawn.padEnd(COLUMNS)}${shown.join(' ')}`
}
