/**
 * Runs all that says whether this checkout is as it should be, and ends with the line `N passed, N failed`.
 *
 *   npm run all [-- --woken] [--only NAME,NAME]
 *
 * As many steps at a time as there are two cores for, of long runs three, but what measures runs alone. With
 * `--woken`, as `.ci/run` calls it, the long runs that `.ci/runs.json` lists are left out where nothing that wakes them has
 * changed since they passed; what passes is noted there, for you to commit, if all that is tracked is committed.
 */
import { parseArgs } from 'node:util'
import { runStep, type StepResult } from './all/run-step.ts'
import { steps, type Step } from './all/steps.ts'
import { isLong, notePassed, whyWoken } from './all/woken.ts'

/** Two cores are what a small machine has: more steps at a time would only wait for each other. */
const AT_A_TIME = 2

/** Of the long runs one more: half of their time they wait for installations and for the programs that they start. */
const LONG_AT_A_TIME = 3

const { values } = parseArgs({
  options: { woken: { type: 'boolean', default: false }, only: { type: 'string' } },
})
const only = values.only?.split(',')
const unknown = only?.filter((name) => !steps.some((step) => step.name === name)) ?? []
if (unknown.length > 0)
  throw new Error(
    `There is no step ${unknown.join(', ')}; there are ${steps.map(({ name }) => name).join(', ')}.`,
  )

const startedMs = performance.now()
const waiting = steps.filter(({ name }) => (only?.includes(name) ?? true) && !isAsleep(name))
const awaited = new Set(waiting.map(({ name }) => name))
const running = new Set<Step>()
const results = new Map<string, StepResult>()
await runAll()
end()

function isAsleep(name: string): boolean {
  if (!isLong(name) || !values.woken) return false
  const why = whyWoken(name)
  say(why === null ? `${name}: nothing has changed since it passed` : `${name}: is run, ${why}`)
  return why === null
}

/** Starts what may be started, each time a step has ended. */
async function runAll(): Promise<void> {
  const under: Promise<void>[] = []
  const startNext = (): void => {
    for (let next = nextStep(); next !== undefined; next = nextStep()) {
      const step = next
      waiting.splice(waiting.indexOf(step), 1)
      running.add(step)
      under.push(
        runStep(step).then((result) => {
          running.delete(step)
          results.set(step.name, result)
          tell(step, result)
          startNext()
        }),
      )
    }
  }
  startNext()
  while (results.size < awaited.size) await Promise.race(under.splice(0, 1))
}

/** What measures comes when nothing else is left to do beside it. */
function nextStep(): Step | undefined {
  if ([...running].some(({ isAlone }) => isAlone)) return undefined
  const beside = waiting.find(
    ({ isAlone, after }) => !isAlone && after.every((name) => !awaited.has(name) || results.has(name)),
  )
  if (beside !== undefined)
    return running.size < (isLong(beside.name) ? LONG_AT_A_TIME : AT_A_TIME) ? beside : undefined
  return running.size === 0 ? waiting.find(({ isAlone }) => isAlone) : undefined
}

function tell({ name, command }: Step, { output, passed, failed, seconds }: StepResult): void {
  say(`\n== ${command.join(' ')}\n${output.trimEnd()}`)
  say(`== ${name}: ${passed} passed, ${failed} failed, in ${seconds.toFixed(0)} s`)
}

function end(): void {
  const all = [...results.values()]
  const failures = all.flatMap((result) => result.failures)
  const long = [...results].filter(([name, { failed }]) => isLong(name) && failed === 0).map(([name]) => name)
  if (long.length > 0) {
    const isNoted = notePassed(long)
    say(
      isNoted
        ? `\n== noted in .ci/runs.json that these passed, to be committed: ${long.join(', ')}`
        : `\n== not noted that these passed, since not all that is tracked is committed: ${long.join(', ')}`,
    )
  }
  if (failures.length > 0) say(`\n== what failed\n${failures.join('\n')}`)
  const [passed, failed] = [all.map((one) => one.passed), all.map((one) => one.failed)].map((counts) =>
    counts.reduce((sum, count) => sum + count, 0),
  )
  say(`\n== in ${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes`)
  say(`\n${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
