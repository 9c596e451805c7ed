import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import type { Checkout, ToldTest } from './checkout.ts'
import { sourceFiles, type Mutant } from './draw.ts'
import { mutationsIn } from './mutations.ts'
import { withProbes, type Mark } from './probes.ts'

/** Which tests reach which mutant, and how long each of them takes. */
export type Reach = {
  /** Names of tests, or of files where all their tests are meant. */
  readonly testsOf: (mutant: Mutant) => readonly string[]
  readonly durationMsOf: (test: string) => number
  /** The tests of each file in their order. */
  readonly testsIn: ReadonlyMap<string, readonly ToldTest[]>
}

/** Runs all tests once, with probes in the sources. Throws where a test fails without any fault. */
export async function observeReach(
  checkout: Checkout,
  {
    mutants,
    projects,
    workers,
  }: { mutants: readonly Mutant[]; projects: readonly string[]; workers: number },
): Promise<Reach> {
  const files = sourceFiles(checkout.sources)
  const texts = new Map(files.map((file) => [file, readFileSync(join(checkout.sources, file), 'utf8')]))
  const probeModule = new URL(`file://${join(checkout.folder, 'reached.ts')}`).href
  const numbered = Map.groupBy([...mutants.entries()], ([, { file }]) => file)
  for (const [file, text] of texts) {
    const probed = { file, found: mutationsIn(text), mutants: new Map(numbered.get(file)), probeModule }
    checkout.put(file, withProbes(text, probed))
  }
  const { told } = await checkout.runTests({ projects, workers, bail: false, timeoutMs: OBSERVED_MS_MAX })
  files.forEach(checkout.putBack)
  const failed = told?.filter(({ status }) => status === 'failed').map(({ name }) => name) ?? ['no report']
  if (failed.length > FAILED_MAX) throw new Error(`Without any fault these fail:\n${failed.join('\n')}`)
  if (failed.length > 0)
    process.stdout.write(`left out, since they fail without any fault:\n${failed.join('\n')}\n`)

  const reached = readReached(join(checkout.folder, 'reached'), new Set(failed))
  const importers = importersOf(texts)
  const durations = new Map(told?.map(({ name, durationMs }) => [name, durationMs]))
  const testsIn = Map.groupBy(told ?? [], ({ file }) => file)
  const numberOf = new Map(mutants.map((mutant, number) => [mutant, number]))
  return {
    testsOf: (mutant) => {
      if (!mutant.runsOnLoad) return [...(reached.get(numberOf.get(mutant) ?? -1) ?? [])]
      // No test reaches it alone: those that run anything of that file, or of one that imports it.
      const { file } = mutant
      const near = [file, ...(importers.get(file) ?? [])].flatMap((each) => [...(reached.get(each) ?? [])])
      return [...new Set(near)]
    },
    durationMsOf: (test) =>
      durations.get(test) ?? (testsIn.get(test) ?? []).reduce((sum, { durationMs }) => sum + durationMs, 0),
    testsIn,
  }
}

// --- internal ---

const OBSERVED_MS_MAX = 40 * 60_000

/** A machine that others use fails one test now and then; more of them say that something is broken. */
const FAILED_MAX = 5

function readReached(folder: string, failed: ReadonlySet<string>): ReadonlyMap<Mark, ReadonlySet<string>> {
  const reached = new Map<Mark, Set<string>>()
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.jsonl')))
    for (const line of readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean)) {
      const { test, marks }: { test: string; marks: readonly Mark[] } = JSON.parse(line)
      if (test === '' || failed.has(test)) continue
      for (const mark of marks) {
        const tests = reached.get(mark) ?? new Set()
        reached.set(mark, tests.add(test))
      }
    }
  return reached
}

/** Which files import a file. */
function importersOf(texts: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>()
  for (const [file, text] of texts)
    for (const [, path = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      const imported = normalize(join(dirname(file), path))
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  return importers
}
