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
 * connections of all kinds and answers beside them. A third one serves a fair client alone and beside an unfair one, in turns; if that took too long, it is measured twice more.
 *
 * `--seconds`: of load, in four rounds (default 32); `--idle`: idle connections (default 10,000, or as many as files may
 * be open here). Prints counts, curves and what did not come back; exits with 1 where something did not, or an answer
 * was wrong. Needs Linux: memory, files and sockets are read from /proc.
 */
import { writeFileSync } from 'node:fs'
import { curvesOf } from './curves.ts'
import { fairness } from './fairness.ts'
import { idleConnections } from './idle-connections.ts'
import { loadRounds } from './load-rounds.ts'
import { readOptions } from './options.ts'
import { linesOf } from './tally.ts'

/** For ten rounds of two seconds each: shorter ones have too few answers. */
const FAIR_SECONDS_MIN = 20

process.exitCode = await soak()

async function soak(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`)
    return 1
  }
  const { seconds, connections, seed, file } = options
  say(`Seed ${seed}: ${seconds} s of load in four rounds.`)
  const load = await loadRounds(seconds, seed)
  say(linesOf(load.tally))
  say(curvesOf(load.samples))
  say(load.rests.map(({ text }) => text).join('\n'))

  const idle = await idleConnections(connections)
  say(`\n${idle.text}`)

  const fair = await fairness(Math.max(FAIR_SECONDS_MIN, seconds / 2), say)

  const wrong = [...load.wrong, ...idle.wrong, ...fair.wrong]
  if (file !== null) writeFileSync(file, JSON.stringify({ seed, ...load, idle, fair, wrong }, null, 2))
  say(`\n${wrong.length} wrong${wrong.map((line) => `\n- ${line}`).join('')}`)
  return wrong.length === 0 ? 0 : 1
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
