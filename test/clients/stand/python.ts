import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { environment } from './installed-program.ts'
import { runProgram } from './run-program.ts'

/** What a client of Python's said in the end, and what its agent read. */
export type Told = { readonly said: unknown; readonly read: readonly string[] }

/** Why no client of Python's can run here; null where they can. */
export function whyThereIsNoPython(): string | null {
  const asked = 'import ensurepip, sys, venv; sys.exit(0 if sys.version_info >= (3, 11) else 1)'
  const { error, status } = spawnSync('python3', ['-c', asked], { stdio: 'ignore' })
  if (error !== undefined) return `there is no python3 here: ${error.message}`
  return status === 0 ? null : 'python3 is older than 3.11, or makes no virtual environments'
}

/** Installs what `requirements.txt` lists into a virtual environment beside it, once for each state of the list. */
export function installPython(): void {
  const list = join(folder, 'requirements.txt')
  const state = createHash('sha256').update(readFileSync(list)).digest('hex')
  if (existsSync(complete) && readFileSync(complete, 'utf8') === state) return
  rmSync(venv, { recursive: true, force: true })
  const pip = [
    '-m',
    'pip',
    'install',
    '--no-input',
    '--disable-pip-version-check',
    '--no-deps',
    '-q',
    '-r',
    list,
  ]
  for (const [command, args] of [
    ['python3', ['-m', 'venv', venv]],
    [python, pip],
  ] as const) {
    const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    if (status !== 0)
      throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}`)
  }
  writeFileSync(complete, state)
}

/** The version of a package that is installed. */
export function pythonVersionOf(packageName: string): string {
  const list = readFileSync(join(folder, 'requirements.txt'), 'utf8')
  const line = list.split('\n').find((each) => each.startsWith(`${packageName}==`))
  return line?.slice(packageName.length + 2) ?? ''
}

/** Runs one of the scripts; its last line tells what was said. */
export async function runPython(script: string, baseUrl: string): Promise<Told> {
  const home = await mkdtemp(join(tmpdir(), 'foldgate-python-'))
  try {
    const { exitCode, output } = await runProgram({
      command: python,
      args: [join(folder, script), baseUrl],
      cwd: home,
      env: { ...environment(home), PYTHONDONTWRITEBYTECODE: '1', OPENAI_API_KEY: 'key' },
    })
    if (exitCode !== 0) throw new Error(`${script} ended with exit code ${exitCode}: ${output.slice(-2_000)}`)
    const told: Told = JSON.parse(output.trim().split('\n').at(-1) ?? '')
    return told
  } finally {
    await rm(home, { recursive: true })
  }
}

// --- internal ---

const folder = fileURLToPath(new URL('../python/', import.meta.url))
const venv = fileURLToPath(new URL('../.venv', import.meta.url))
const python = join(venv, 'bin', 'python')
const complete = join(venv, 'complete')
