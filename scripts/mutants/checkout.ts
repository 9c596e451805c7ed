import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A clone in which tests are run, while its sources are changed. */
export type Checkout = {
  readonly folder: string
  readonly sources: string
  /** Writes a file of `src`, for as long as nobody puts back what stood there. */
  readonly put: (file: string, text: string) => void
  readonly putBack: (file: string) => void
  readonly runTests: (run: TestRun) => Promise<TestReport>
  readonly close: () => void
}

export type TestRun = {
  readonly projects: readonly string[]
  /** Test files; all where there are none. */
  readonly files?: readonly string[]
  /** Tests by name; all others are skipped. */
  readonly tests?: readonly string[]
  readonly workers: number
  /** Ends with the first failure. */
  readonly bail: boolean
  readonly timeoutMs: number
}

/** What came of a run. `told` is null where it did not come to its end. */
export type TestReport = {
  readonly isGreen: boolean
  readonly told: readonly ToldTest[] | null
}

export type ToldTest = {
  readonly file: string
  readonly name: string
  readonly status: 'passed' | 'failed' | 'skipped'
  readonly durationMs: number
}

/** Clones what is committed in a folder; packages are those that are installed there. */
export function openCheckout(from: string): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'foldgate-mutants-'))
  execFileSync('git', ['clone', '--quiet', '--shared', from, folder])
  symlinkSync(join(from, 'node_modules'), join(folder, 'node_modules'))
  for (const name of ['reached.ts', 'watch-tests.ts'])
    copyFileSync(new URL(`inside/${name}`, import.meta.url), join(folder, name))
  writeFileSync(join(folder, 'mutants.config.ts'), CONFIGURATION)
  const sources = join(folder, 'src')
  const originals = new Map<string, string>()
  const running = new Set<number>()
  return {
    folder,
    sources,
    put: (file, text) => {
      if (!originals.has(file)) originals.set(file, readFileSync(join(sources, file), 'utf8'))
      writeFileSync(join(sources, file), text)
    },
    putBack: (file) => writeFileSync(join(sources, file), originals.get(file) ?? ''),
    runTests: (run) => runTests(folder, run, running),
    close: () => {
      running.forEach(endGroup)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

// --- internal ---

const CONFIGURATION = `import config from './vitest.config.ts'
config.test.setupFiles.push('./watch-tests.ts')
export default config
`

async function runTests(folder: string, run: TestRun, running: Set<number>): Promise<TestReport> {
  const report = join(folder, 'report.json')
  const wanted = join(folder, 'wanted.json')
  rmSync(report, { force: true })
  if (run.tests !== undefined) writeFileSync(wanted, JSON.stringify(run.tests))
  const child = spawn(
    process.execPath,
    [
      join(folder, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config=mutants.config.ts',
      `--maxWorkers=${run.workers}`,
      '--reporter=json',
      `--outputFile=${report}`,
      ...run.projects.flatMap((project) => ['--project', project]),
      ...(run.bail ? ['--bail', '1'] : []),
      ...(run.files ?? []),
    ],
    {
      cwd: folder,
      env: { ...process.env, ...(run.tests !== undefined && { MUTANTS_WANTED: wanted }) },
      stdio: 'ignore',
      // A group of its own: what a mutant keeps from ending ends with it.
      detached: true,
    },
  )
  const { pid: leader } = child
  if (leader === undefined) throw new Error('vitest cannot be started here')
  running.add(leader)
  const overdue = setTimeout(() => endGroup(leader), run.timeoutMs)
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve)
  })
  clearTimeout(overdue)
  endGroup(leader)
  running.delete(leader)
  return { isGreen: code === 0, told: readReport(report, folder) }
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch (error) {
    // Nobody is left in it.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

type Report = {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly duration?: number | null
    }[]
  }[]
}

function readReport(file: string, folder: string): readonly ToldTest[] | null {
  let report: Report
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
  return report.testResults.flatMap(({ name, status: ofFile, assertionResults }) => {
    const path = name.slice(folder.length + 1)
    const tests = assertionResults.map(({ fullName, status, duration }): ToldTest => ({
      file: path,
      name: `${path} > ${fullName}`,
      status: status === 'passed' || status === 'failed' ? status : 'skipped',
      durationMs: duration ?? 0,
    }))
    // A file that cannot be loaded has failed as a whole.
    const isLoaded = ofFile !== 'failed' || tests.some(({ status }) => status === 'failed')
    return isLoaded ? tests : [...tests, { file: path, name: path, status: 'failed', durationMs: 0 }]
  })
}
