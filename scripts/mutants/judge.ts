import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Checkout, TestReport } from './checkout.ts'
import type { Mutant } from './draw.ts'
import { withFault } from './probes.ts'
import type { Reach } from './reach.ts'

export type Verdict = {
  readonly outcome: 'killed' | 'survived' | 'not reached'
  /** The test that saw it, or what became of the run; '' where nothing did. */
  readonly by: string
}

/** Runs the tests that reach a mutant, the quickest first, until one fails. */
export async function judge(
  checkout: Checkout,
  { mutant, reach, projects }: { mutant: Mutant; reach: Reach; projects: readonly string[] },
): Promise<Verdict> {
  const tests = reach.testsOf(mutant)
  if (tests.length === 0) return { outcome: 'not reached', by: '' }
  const source = readFileSync(join(checkout.sources, mutant.file), 'utf8')
  if (source.slice(mutant.start, mutant.end) !== mutant.original)
    throw new Error(`${mutant.file}:${mutant.line} is no longer what the mutant was drawn from: draw anew`)
  checkout.put(mutant.file, withFault(source, mutant))
  try {
    for (const files of portionsOf(tests, reach)) {
      const run = { projects, files, workers: 1, bail: true, timeoutMs: timeoutOf(files, reach) }
      const report = await checkout.runTests({ ...run, tests })
      if (report.isGreen) continue
      const failed = report.told?.find(({ status }) => status === 'failed')
      if (failed === undefined) return { outcome: 'killed', by: 'the run did not come to its end' }
      if (!skippedBefore(report, failed)) return { outcome: 'killed', by: failed.name }
      // It may have missed what one before it does: the file is asked as a whole.
      const whole = await checkout.runTests({ ...run, files: [failed.file] })
      if (!whole.isGreen) return { outcome: 'killed', by: failed.name }
    }
    return { outcome: 'survived', by: '' }
  } finally {
    checkout.putBack(mutant.file)
  }
}

// --- internal ---

/** How much each run takes at most, in milliseconds of the tests' own time; the last takes what is left. */
const PORTIONS_MS = [1_500, 8_000, 30_000, Number.POSITIVE_INFINITY]

const START_MS = 60_000

/** A loop that a mutant made endless is known by this. */
const TIMES_AS_LONG = 10

function portionsOf(tests: readonly string[], reach: Reach): readonly (readonly string[])[] {
  const cost = new Map<string, number>()
  for (const test of tests) {
    const file = fileOf(test)
    cost.set(file, (cost.get(file) ?? FILE_MS) + reach.durationMsOf(test))
  }
  const waiting = [...cost].toSorted(([, one], [, other]) => one - other)
  const portions: string[][] = []
  for (const most of PORTIONS_MS) {
    const portion: string[] = []
    let sum = 0
    for (
      let next = waiting[0];
      next !== undefined && (sum === 0 || sum + next[1] <= most);
      [next] = waiting
    ) {
      portion.push(next[0])
      sum += next[1]
      waiting.shift()
    }
    if (portion.length > 0) portions.push(portion)
  }
  return portions
}

/** What opening a file takes. */
const FILE_MS = 50

function timeoutOf(files: readonly string[], reach: Reach): number {
  return START_MS + TIMES_AS_LONG * files.reduce((sum, file) => sum + reach.durationMsOf(file), 0)
}

function fileOf(test: string): string {
  return test.split(' > ', 1)[0] ?? test
}

function skippedBefore({ told }: TestReport, { file, name }: { file: string; name: string }): boolean {
  const inFile = told?.filter((test) => test.file === file) ?? []
  const at = inFile.findIndex((test) => test.name === name)
  return inFile.slice(0, at).some(({ status }) => status === 'skipped')
}
