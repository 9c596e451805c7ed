import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** What `.ci/runs.json` says of each long run. */
type Runs = Readonly<Record<string, Note>>

type Note = {
  /** What wakes it: files and folders of the repository. */
  readonly wokenBy: readonly string[]
  /** The commit at which it last passed. */
  readonly passedAt: string | null
}

/** Why a long run is to be run; null where it passed since anything that wakes it changed, or is none of these runs. */
export function whyWoken(name: string): string | null {
  const note = readRuns()[name]
  if (note === undefined) return null
  const { wokenBy, passedAt } = note
  if (passedAt === null || !isKnown(passedAt)) return 'nobody knows a commit at which it passed'
  const missing = wokenBy.filter((path) => !existsSync(path))
  if (missing.length > 0) return `${FILE} names what is not there: ${missing.join(', ')}`
  const changed = git('diff', '--name-only', passedAt, '--', ...wokenBy)
  const added = git('ls-files', '--others', '--exclude-standard', '--', ...wokenBy)
  const [first] = [...changed, ...added]
  return first === undefined ? null : `${first} has changed since it passed`
}

/** Whether it is one of the runs that wait until something wakes them. */
export function isLong(name: string): boolean {
  return name in readRuns()
}

/** Notes that these have passed as the repository stands; nothing where that is not what is committed. */
export function notePassed(names: readonly string[]): boolean {
  if (git('status', '--porcelain', '--untracked-files=no').length > 0) return false
  const [passedAt = null] = git('rev-parse', 'HEAD')
  const noted = Object.entries(readRuns()).map(([name, note]) => [
    name,
    names.includes(name) ? { ...note, passedAt } : note,
  ])
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(noted), null, 2)}\n`)
  return true
}

// --- internal ---

const FILE = '.ci/runs.json'

function readRuns(): Runs {
  const runs: Runs = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {}
  return runs
}

/** A clone need not have all that was ever committed. */
function isKnown(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`]).status === 0
}

function git(...args: readonly string[]): readonly string[] {
  return execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
}
