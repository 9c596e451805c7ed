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
      if (failed === undefined) return ENDLESS
      if (!skippedBefore(report, failed)) return { outcome: 'killed', by: failed.name }
      // It may have missed what one before it does: the file is asked as a whole.
      const whole = await checkout.runTests({ ...run, files: [failed.file] })
      if (!whole.isGreen) return { outcome: 'killed', by: failed.name }
    }
    return files.length === 0 ? { outcome: 'survived', by: '' } : { mutant, files }
  })
}

/** A mutant of which nothing was asked yet. */
export function suspectOf(mutant: Mutant, reach: Reach): Suspect {
  return { mutant, files: [...new Set(reach.testsOf(mutant).map(fileOf))] }
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

/** Runs what was not asked yet with all faults of a batch, in portions, and what fails again until it is known for which. */
export async function judgeTogether(
  checkout: Checkout,
  batch: readonly Suspect[],
  known: Known,
): Promise<ReadonlyMap<Mutant, Verdict>> {
  const verdicts = new Map<Mutant, Verdict>(
    batch.map(({ mutant, files }) => [
      mutant,
      { outcome: files.length === 0 ? 'not reached' : 'survived', by: '' },
    ]),
  )
  const costs = new Map(batch.flatMap(({ files }) => files.map((file) => [file, costOf(file, known.reach)])))
  for (let waiting = inOrder(costs); waiting.length > 0;) {
    const files = takePortion(waiting, TOGETHER_MS)
    const living = batch.filter(({ mutant }) => verdicts.get(mutant)?.outcome === 'survived')
    for (const [mutant, verdict] of await killedBy(checkout, files, living, known))
      verdicts.set(mutant, verdict)
  }
  return verdicts
}

// --- internal ---

/** How much each run with one fault takes at most, in milliseconds of the tests' own time. */
const PORTIONS_MS = [1_500, 8_000]

/** How much each run with many faults takes at most: a fault without an end costs no more than a multiple of it. */
const TOGETHER_MS = 30_000

/** So many faults at once leave nearly every test as it was. */
const BATCH_MAX = 64

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
  const waiting = inOrder(cost)
  const portions = PORTIONS_MS.map((most) => takePortion(waiting, most))
  return { portions: portions.filter(({ length }) => length > 0), files: waiting.map(([file]) => file) }
}

type Costs = [file: string, costMs: number][]

function inOrder(costs: ReadonlyMap<string, number>): Costs {
  return [...costs].toSorted(([, one], [, other]) => one - other)
}

/** Takes the next files, as many as the time has room for, and one at least. */
function takePortion(waiting: Costs, mostMs: number): readonly string[] {
  const portion: string[] = []
  let sumMs = 0
  for (
    let next = waiting[0];
    next !== undefined && (sumMs === 0 || sumMs + next[1] <= mostMs);
    [next] = waiting
  ) {
    portion.push(next[0])
    sumMs += next[1]
    waiting.shift()
  }
  return portion
}

function costOf(file: string, reach: Reach): number {
  return FILE_MS + reach.durationMsOf(file)
}

/** Which of some suspects these files see: all faults at once, then fewer and fewer of those that a failing file reaches. */
async function killedBy(
  checkout: Checkout,
  files: readonly string[],
  suspects: readonly Suspect[],
  { reach, projects }: Known,
): Promise<readonly (readonly [Mutant, Verdict])[]> {
  const concerned = suspects.filter((suspect) => suspect.files.some((file) => files.includes(file)))
  const [only, ...others] = concerned
  if (only === undefined) return []
  const asked = files.filter((file) => concerned.some((suspect) => suspect.files.includes(file)))
  const mutants = concerned.map(({ mutant }) => mutant)
  const tests = mutants.flatMap(reach.testsOf)
  const run = { projects, workers: 1, bail: false }
  const together = await withFaults(checkout, mutants, () =>
    checkout.runTests({ ...run, files: asked, tests, timeoutMs: timeoutOf(asked, reach) }),
  )
  if (together.told === null) {
    if (others.length === 0) return [[only.mutant, ENDLESS]]
    const middle = Math.ceil(concerned.length / 2)
    const halves = [concerned.slice(0, middle), concerned.slice(middle)]
    const killed = []
    for (const half of halves) killed.push(...(await killedBy(checkout, asked, half, { reach, projects })))
    return killed
  }
  const failed = together.told.filter(({ status }) => status === 'failed').map(({ file }) => file)
  const killed = new Map<Mutant, Verdict>()
  for (const file of new Set(failed)) {
    const living = concerned.filter(({ mutant, files: left }) => !killed.has(mutant) && left.includes(file))
    const timeoutMs = timeoutOf([file], reach)
    const see = (faults: readonly Mutant[]): Promise<TestReport> =>
      withFaults(checkout, faults, () => checkout.runTests({ ...run, files: [file], timeoutMs }))
    const found = await seenBy(
      see,
      living.map(({ mutant }) => mutant),
    )
    for (const [mutant, verdict] of found) killed.set(mutant, verdict)
  }
  return [...killed]
}

/** Which of some faults tests see: each half of them is tried again as long as something fails. */
async function seenBy(
  see: (faults: readonly Mutant[]) => Promise<TestReport>,
  faults: readonly Mutant[],
): Promise<readonly (readonly [Mutant, Verdict])[]> {
  const [only, ...others] = faults
  if (only === undefined) return []
  const report = await see(faults)
  if (report.isGreen) return []
  if (others.length === 0) {
    const seen = report.told?.find(({ status }) => status === 'failed')
    return [[only, seen === undefined ? ENDLESS : { outcome: 'killed', by: seen.name }]]
  }
  const middle = Math.ceil(faults.length / 2)
  return [...(await seenBy(see, faults.slice(0, middle))), ...(await seenBy(see, faults.slice(middle)))]
}

const ENDLESS: Verdict = { outcome: 'killed', by: 'the run did not come to its end' }

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
