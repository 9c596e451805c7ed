/**
 * Measures Foldgate beside what it is compared with, and writes a page of results.
 *
 *   npm run bench -- [--quick] [--rounds N] [--only NAME[,NAME]] [--beside PATH] [--out FILE]
 *
 * Exits with 0 also where a bound is missed, which the page tells; with 2 where it cannot run at all.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { readArguments, usage } from './arguments.ts'
import { startUpstream } from './load/upstream.ts'
import { describeMachine } from './machine.ts'
import { measures } from './measures/all.ts'
import { besideCheckout } from './measures/beside-checkout.ts'
import { describeMiss, renderPage } from './page/page.ts'
import { isMet } from './page/verdict.ts'
import { leaveSubjectCore } from './pinning.ts'
import type { Effort, Measure, MeasureOptions, Section } from './section.ts'

const whole: Effort = { rounds: 3, durationMs: 1500, isQuick: false }
const quick: Effort = { rounds: 2, durationMs: 250, isQuick: true }

const CANNOT_RUN = 2
/** What a shell takes for an end by these signals. */
const endings = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const

for (const [signal, code] of endings) process.once(signal, () => process.exit(code))
process.exitCode = await run(process.argv.slice(2))

async function run(args: readonly string[]): Promise<number> {
  const date = new Date()
  const names = measures.map(({ name }) => name)
  const given = readArguments(args, names, date)
  if (typeof given === 'string') return refuse(`${given}\n${usage}`)
  if (process.platform !== 'linux')
    return refuse('The bench reads CPU time and memory from /proc, so it runs on Linux only.')

  const machine = describeMachine(leaveSubjectCore())
  const usual = given.isQuick ? quick : whole
  const effort = { ...usual, rounds: given.rounds ?? usual.rounds }
  const chosen =
    given.beside === null
      ? measures.filter(({ name }) => given.only?.includes(name) ?? true)
      : [besideCheckout(given.beside)]
  const upstream = await startUpstream()
  const sections: Section[] = []
  for (const measure of chosen) {
    const tellOf = (text: string): void => tell(`${measure.name}: ${text}`)
    sections.push(await runMeasure(measure, { effort, upstreamOrigin: upstream.origin, tell: tellOf }))
  }
  await upstream.stop()

  const command = ['npm run bench', ...(args.length === 0 ? [] : ['--', ...args])].join(' ')
  const page = renderPage({ date, effort, command, machine, sections })
  if (given.file === null) process.stdout.write(page)
  else {
    mkdirSync(dirname(given.file), { recursive: true })
    writeFileSync(given.file, page)
    tell(`written to ${given.file}`)
  }
  tellMisses(sections)
  return 0
}

/** One that fails does not lose the others: its section says what went wrong. */
async function runMeasure(measure: Measure, options: MeasureOptions): Promise<Section> {
  const startedMs = performance.now()
  try {
    return await measure.run(options)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    options.tell(`failed: ${why}`)
    return {
      name: measure.name,
      title: measure.name,
      about: `**This measure failed:** ${why}`,
      tables: [],
      checks: [],
    }
  } finally {
    options.tell(`took ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  }
}

function tellMisses(sections: readonly Section[]): void {
  const checks = sections.flatMap((section) => section.checks)
  const missed = checks.filter((check) => !isMet(check))
  tell(`${checks.length - missed.length} of ${checks.length} bounds met`)
  for (const check of missed) tell(`missed: ${describeMiss(check)}`)
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`)
}

function refuse(text: string): number {
  tell(text)
  return CANNOT_RUN
}
