import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, tmpdir, homedir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { startCommand } from '../../support/run-command.ts'

type StartOptions = { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string }

/**
 * Starts a program as the first of a group of its own: it ends with this one, however that comes about. Its standard input stays
 * open for as long as it is to run. Default: nothing of this environment but what finds programs, compilers and a registry.
 */
export function startProgram(
  command: string,
  args: readonly string[],
  { env = process.env, cwd = workFolder() }: StartOptions = {},
) {
  const started = startCommand(command, args, { cwd, env, stdio: 'pipe', detached: true })
  const { child, stdout, stderr } = started
  running.add(child)
  let isRunning = true
  const ended = started.ended.finally(() => {
    isRunning = false
    running.delete(child)
  })
  const lastWords = () => (stdout() + stderr()).trim().split('\n').slice(-LAST_LINES).join('\n')
  return {
    /** 0 where it could not be started. */
    pid: child.pid ?? 0,
    said: async (pattern: RegExp) => {
      const deadlineMs = performance.now() + START_MS_MAX
      for (;;) {
        const found = pattern.exec(stdout())
        if (found !== null) return found
        if (!isRunning || performance.now() > deadlineMs)
          throw new Error(`${command} ${args.join(' ')} did not say ${String(pattern)}:\n${lastWords()}`)
        await pause(POLL_MS)
      }
    },
    lastWords,
    ended,
    stop: async () => {
      endGroup(child)
      await ended
    },
  }
}

export function workFolder(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'foldgate-servers-'))
  return folder
}

export function endAllWithThis(): void {
  process.once('exit', () => {
    for (const child of running) endGroup(child)
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}

const LAST_LINES = 15
/** A start takes seconds; what has not begun by then never does. */
const START_MS_MAX = 60_000
const POLL_MS = 20
const running = new Set<ChildProcess>()
let folder: string | null = null

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended in this very moment.
  }
}

/** The interpreter of a virtual environment with what its list names; else why there is none. */
export type Installed = { readonly python: string } | { readonly missing: string }

/** The packages of one server; the name is that of its list in `python/`. */
export type PackageList = 'llama-cpp' | 'llama-cpp-python'
export const pythonFolder = fileURLToPath(new URL('python/', import.meta.url))
export const listOf = (name: PackageList): string => join(pythonFolder, `${name}.txt`)

/** The Python 3 of this machine with its version, where it can make virtual environments; else what is missing. */
export async function findPython(): Promise<{ readonly version: string } | { readonly missing: string }> {
  const asked =
    'import ensurepip, sys, venv; print("version", *sys.version_info[:2], sys.implementation.cache_tag)'
  const program = startProgram(PYTHON, ['-c', asked])
  const code = await program.ended
  if (code !== 0)
    return { missing: `no Python 3 that makes virtual environments (${program.lastWords() || code})` }
  const [, version = '', major, minor] = /version ((\d+) (\d+) \S+)/.exec(program.lastWords()) ?? []
  return Number(major) === 3 && Number(minor) >= MINOR_LEAST
    ? { version }
    : { missing: `Python 3.${MINOR_LEAST} or newer (${PYTHON} is ${major}.${minor})` }
}

/** Installs a list of packages into a virtual environment of its own, once for each state of the list. */
export async function install(file: string, version: string): Promise<Installed> {
  const list = basename(file, '.txt')
  const state = createHash('sha256')
    .update(`${version}\n`)
    .update(readFileSync(file))
    .digest('hex')
    .slice(0, 12)
  const venv = join(cacheFolder(), `${list}-${state}`)
  const python = join(venv, 'bin', 'python')
  const complete = join(venv, 'complete')
  if (existsSync(complete)) return { python }
  const isCompiled = list === 'llama-cpp-python'
  if (isCompiled && (await startProgram('c++', ['--version']).ended) !== 0)
    return { missing: 'no C++ compiler (c++) to build it with' }
  rmSync(venv, { recursive: true, force: true })
  mkdirSync(venv, { recursive: true })
  process.stdout.write(
    `Installing ${list} into ${venv}${isCompiled ? ', which is compiled and takes minutes' : ''} …\n`,
  )
  const steps = [
    [PYTHON, ['-m', 'venv', venv]],
    [python, ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '-q', '-r', file]],
  ] as const
  for (const [command, args] of steps) {
    const problem = await run(command, args)
    if (problem !== null) return { missing: problem }
  }
  writeFileSync(complete, '')
  return { python }
}

const PYTHON = 'python3'
/** The oldest that there is a wheel for. */
const MINOR_LEAST = 10
const INSTALL_MINUTES_MAX = 10

/**
 * Whatever can be left out, and a code that compiles in half of the time: the model has one layer. Not for this very
 * processor, whose compiler may be older than it.
 */
const buildEnvironment = {
  CMAKE_BUILD_PARALLEL_LEVEL: '2',
  CMAKE_ARGS: [
    ...['GGML_NATIVE', 'GGML_OPENMP', 'LLAVA_BUILD', 'MTMD_BUILD'].map((name) => `-D${name}=OFF`),
    '-DCMAKE_CXX_FLAGS_RELEASE=-O1',
  ].join(' '),
}

const cacheFolder = (): string =>
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'foldgate-servers')

async function run(command: string, args: readonly string[]): Promise<string | null> {
  const program = startProgram(command, args, { env: { ...process.env, ...buildEnvironment } })
  const timer = setTimeout(() => void program.stop(), INSTALL_MINUTES_MAX * 60_000)
  const code = await program.ended
  clearTimeout(timer)
  if (code === 0) return null
  if (code === 'SIGKILL') return `it took more than ${INSTALL_MINUTES_MAX} minutes to install`
  return `it could not be installed: ${program.lastWords()}`
}
