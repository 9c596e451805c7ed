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

/** What is known of the tests: which of them there are, and which reach what. */
export type Known = { readonly reach: Reach; readonly projects: readonly string[] }

/** A mutant that the quick ones of its tests do not see, and the files that were not asked yet. */
export type Suspect = { readonly mutant: Mutant; readonly files: readonly string[] }

/** Runs the tests that reach a mutant, the quickest first, until one fails or what is left takes long. */
export async function judgeAlone(
  checkout: Checkout,
  mutant: Mutant,
  { reach, projects }: Known,
): Promise<Verdict | Suspect> {
  const tests = reach.testsOf(mutant)
  if (tests.length === 0) return { outcome: 'not reached', by: '' }
  const { portions, files } = portionsOf(tests, reach)
  return withFaults(checkout, [mutant], async () => {
    for (const portion of portions) {
      const run = { projects, files: portion, workers: 1, bail: true, timeoutMs: timeoutOf(portion, reach) }
      const report = await checkout.runTests({ ...run, tests })
      if (report.isGreen) continue
      const failed = report.told?.find(({ status }) => status === 'failed')
      if (failed === undefined) return { outcome: 'killed', by: 'the run did not come to its end' }
      if (!skippedBefore(report, failed)) return { outcome: 'killed', by: failed.name }
      // It may have missed what one before it does: the file is asked as a whole.
      const whole = await checkout.runTests({ ...run, files: [failed.file] })
      if (!whole.isGreen) return { outcome: 'killed', by: failed.name }
    }
    return files.length === 0 ? { outcome: 'survived', by: '' } : { mutant, files }
  })
}

/**
 * Suspects in batches whose faults do not overlap. All of a batch are put in at once: most are seen by no test, and one
 * run shows that of all of them.
 */
export function batchesOf(suspects: readonly Suspect[]): readonly (readonly Suspect[])[] {
  const batches: Suspect[][] = []
  for (const suspect of suspects) {
    const batch = batches.find(
      (each) => each.length < BATCH_MAX && each.every((other) => !overlap(other.mutant, suspect.mutant)),
    )
    if (batch === undefined) batches.push([suspect])
    else batch.push(suspect)
  }
  return batches
}

/** Runs what was not asked yet with all faults of a batch, and what fails again with each that it reaches. */
export async function judgeTogether(
  checkout: Checkout,
  batch: readonly Suspect[],
  { reach, projects }: Known,
): Promise<ReadonlyMap<Mutant, Verdict>> {
  const verdicts = new Map<Mutant, Verdict>(
    batch.map(({ mutant }) => [mutant, { outcome: 'survived', by: '' }]),
  )
  const files = [...new Set(batch.flatMap((suspect) => suspect.files))]
  const tests = batch.flatMap(({ mutant }) => reach.testsOf(mutant))
  const run = { projects, workers: 1, bail: false }
  const together = await withFaults(
    checkout,
    batch.map(({ mutant }) => mutant),
    () => checkout.runTests({ ...run, files, tests, timeoutMs: timeoutOf(files, reach) }),
  )
  if (together.told === null) {
    const [only, ...others] = batch
    if (only !== undefined && others.length === 0)
      return new Map([[only.mutant, { outcome: 'killed', by: 'the run did not come to its end' }]])
    const middle = batch.length / 2
    const halves = [batch.slice(0, middle), batch.slice(middle)]
    const judged = []
    for (const half of halves) judged.push(...(await judgeTogether(checkout, half, { reach, projects })))
    return new Map(judged)
  }
  const failed = Map.groupBy(
    together.told.filter(({ status }) => status === 'failed'),
    ({ file }) => file,
  )
  for (const [file] of failed)
    for (const { mutant, files: asked } of batch) {
      if (verdicts.get(mutant)?.outcome === 'killed' || !asked.includes(file)) continue
      const alone = await withFaults(checkout, [mutant], () =>
        checkout.runTests({ ...run, files: [file], timeoutMs: timeoutOf([file], reach) }),
      )
      const by = alone.told?.find(({ status }) => status === 'failed')?.name
      if (!alone.isGreen)
        verdicts.set(mutant, { outcome: 'killed', by: by ?? 'the run did not come to its end' })
    }
  return verdicts
}

// --- internal ---

/** How much each run with one fault takes at most, in milliseconds of the tests' own time. */
const PORTIONS_MS = [1_500, 8_000]

/** So many faults at once leave nearly every test as it was. */
const BATCH_MAX = 32

const START_MS = 20_000

/** A loop that a mutant made endless is known by this. */
const TIMES_AS_LONG = 5

/** Files to be asked for a mutant alone, the quickest first, in portions; and those that are left. */
function portionsOf(tests: readonly string[], reach: Reach) {
  const cost = new Map<string, number>()
  for (const test of tests) {
    const file = fileOf(test)
    cost.set(file, (cost.get(file) ?? FILE_MS) + reach.durationMsOf(test))
  }
  const waiting = [...cost].toSorted(([, one], [, other]) => one - other)
  const portions = PORTIONS_MS.map((most) => {
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
    return portion
  })
  return { portions: portions.filter(({ length }) => length > 0), files: waiting.map(([file]) => file) }
}

function overlap(one: Mutant, other: Mutant): boolean {
  return one.file === other.file && one.start < other.end && other.start < one.end
}

/** Does something while these faults stand in the sources. */
async function withFaults<Done>(
  checkout: Checkout,
  mutants: readonly Mutant[],
  work: () => Promise<Done>,
): Promise<Done> {
  const byFile = Map.groupBy(mutants, ({ file }) => file)
  for (const [file, faults] of byFile) {
    let source = readFileSync(join(checkout.sources, file), 'utf8')
    for (const fault of faults.toSorted((one, other) => other.start - one.start)) {
      if (source.slice(fault.start, fault.end) !== fault.original)
        throw new Error(`${file}:${fault.line} is no longer what the mutant was drawn from: draw anew`)
      source = withFault(source, fault)
    }
    checkout.put(file, source)
  }
  try {
    return await work()
  } finally {
    for (const file of byFile.keys()) checkout.putBack(file)
  }
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
