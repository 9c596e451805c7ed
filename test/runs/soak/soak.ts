/**
 * Puts Foldgate under load at the edge of what it is set up to take, and looks whether everything comes back.
 *
 *   node test/runs/soak/soak.ts [--seconds N | --minutes N] [--idle N] [--seed N] [--json FILE]
 *
 * Clients of several tenants hold conversations that are compacted, plain and streamed, upload files, ask for
 * embeddings; they read and write slowly, leave at every stage, more of them than Foldgate may serve at a time. The server
 * behind it answers, refuses and breaks off. Each answer is compared with what was sent for it. After every round of
 * load the program is left alone until its sockets and files are as they were; what lives in its
 * memory must not grow from the second round to the last. Then a second Foldgate, as it is by default, is given idle
 * connections of all kinds and answers beside them. A third one serves a fair client beside an unfair one; if that takes too long, it is measured twice more.
 *
 * `--seconds`: of load, in four rounds (default 32); `--idle`: idle connections (default 10,000, or as many as files may
 * be open here). Prints counts, curves and what did not come back; exits with 1 where something did not, or an answer
 * was wrong. Needs Linux: memory, files and sockets are read from /proc.
 */
import { writeFileSync } from 'node:fs'
import { readCommand, refuse, runCommand, say, text, whole } from '../harness/command.ts'
import { alignedTable } from '../harness/table.ts'
import { fairness } from './fairness.ts'
import { idleConnections } from './idle-connections.ts'
import { loadRounds, type Sample, type Tally } from './load-rounds.ts'

/** For ten rounds of two seconds each: shorter ones have too few answers. */
const FAIR_SECONDS_MIN = 20

/** Longer courses are drawn by the largest value of each column. */
const COLUMNS = 60

const bars = '▁▂▃▄▅▆▇█'

await runCommand(soak)

async function soak(args: readonly string[]): Promise<boolean> {
  const flags = { seconds: whole(), minutes: whole(), idle: whole(10_000), seed: whole(), json: text() }
  const { values: given } = readCommand(args, flags)
  if (given.seconds !== null && given.minutes !== null) refuse('Of --seconds and --minutes one is enough.')
  const seconds = given.minutes === null ? (given.seconds ?? 32) : given.minutes * 60
  if (seconds < 4) refuse('A round takes a second at least: --seconds 4.')
  const seed = given.seed ?? (Date.now() % 1_000_000) + 1
  say(`Seed ${seed}: ${seconds} s of load in four rounds.`)
  const load = await loadRounds(seconds, seed)
  say(linesOf(load.tally))
  say(curvesOf(load.samples))
  say(load.rests.map(({ text: told }) => told).join('\n'))

  const idle = await idleConnections(given.idle)
  say(`\n${idle.text}`)

  const fair = await fairness(Math.max(FAIR_SECONDS_MIN, seconds / 2), say)

  const wrong = [...load.wrong, ...idle.wrong, ...fair.wrong]
  if (given.json !== null)
    writeFileSync(given.json, JSON.stringify({ seed, ...load, idle, fair, wrong }, null, 2))
  say(`\n${wrong.length} wrong${wrong.map((line) => `\n- ${line}`).join('')}`)
  return wrong.length === 0
}

/** A table: what was sent, and what became of it. */
function linesOf(tally: Tally): string {
  const outcomes = [...(tally.get('all')?.keys() ?? [])].toSorted()
  const rows = [...tally.keys()].toSorted((one, other) =>
    one === 'all' ? 1 : other === 'all' ? -1 : one.localeCompare(other),
  )
  const cells = (row: string) => outcomes.map((outcome) => String(tally.get(row)?.get(outcome) ?? 0))
  return alignedTable([['', ...outcomes], ...rows.map((row) => [row, ...cells(row)])])
}

/** One line for each figure: its course, and where it began, peaked and ended. */
function curvesOf(samples: readonly Sample[]): string {
  const figures: [string, (sample: Sample) => number][] = [
    ['memory, MB', (sample) => sample.memoryMegabytes],
    ['sockets', (sample) => sample.sockets],
    ['files', (sample) => sample.files],
    ['in flight', (sample) => sample.inFlight],
    ['answers a second', (sample) => sample.answers],
    ['refused a second', (sample) => sample.refused],
  ]
  const lines = figures.map(([name, read]) => [name, ...curveOf(samples.map(read))])
  return alignedTable([['', '', 'first', 'peak', 'last'], ...lines])
}

function curveOf(values: readonly number[]): readonly string[] {
  const peak = Math.max(...values, 1)
  const columns = Math.min(COLUMNS, values.length)
  const drawn = Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * values.length) / columns)
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / columns))
    const share = Math.max(...values.slice(from, to)) / peak
    return bars[Math.min(bars.length - 1, Math.floor(share * bars.length))]
  }).join('')
  const shown = [values.at(0), Math.max(...values), values.at(-1)]
  return [drawn.padEnd(COLUMNS), ...shown.map((value) => String(Math.round(value ?? 0)))]
}
