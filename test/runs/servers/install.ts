import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProgram } from './programs.ts'

/** The interpreter of a virtual environment with what its list names; else why there is none. */
export type Installed = { readonly python: string } | { readonly missing: string }

/** The packages of one server; the name is that of its list in `python/`. */
export type PackageList = 'llama-cpp' | 'llama-cpp-python'

/** The Python files and lists of this command. */
export const pythonFolder = fileURLToPath(new URL('python/', import.meta.url))

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

/** Installs a list into a virtual environment of its own, once for each state of the list. */
export async function install(list: PackageList, version: string): Promise<Installed> {
  const file = join(pythonFolder, `${list}.txt`)
  const state = createHash('sha256')
    .update(`${version}\n`)
    .update(readFileSync(file))
    .digest('hex')
    .slice(0, 12)
  const folder = join(cacheFolder(), `${list}-${state}`)
  const python = join(folder, 'bin', 'python')
  const complete = join(folder, 'complete')
  if (existsSync(complete)) return { python }
  const isCompiled = list === 'llama-cpp-python'
  if (isCompiled && (await startProgram('c++', ['--version']).ended) !== 0)
    return { missing: 'no C++ compiler (c++) to build it with' }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  process.stdout.write(
    `Installing ${list} into ${folder}${isCompiled ? ', which is compiled and takes minutes' : ''} …\n`,
  )
  const steps = [
    [PYTHON, ['-m', 'venv', folder]],
    [python, ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '-q', '-r', file]],
  ] as const
  for (const [command, args] of steps) {
    const problem = await run(command, args)
    if (problem !== null) return { missing: problem }
  }
  writeFileSync(complete, '')
  return { python }
}

// --- internal ---

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

function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'foldgate-servers')
}

/** Null where it went well, else what its last words were. */
async function run(command: string, args: readonly string[]): Promise<string | null> {
  const program = startProgram(command, args, { env: { ...process.env, ...buildEnvironment } })
  const timer = setTimeout(() => void program.stop(), INSTALL_MINUTES_MAX * 60_000)
  const code = await program.ended
  clearTimeout(timer)
  if (code === 0) return null
  if (code === 'SIGKILL') return `it took more than ${INSTALL_MINUTES_MAX} minutes to install`
  return `it could not be installed: ${program.lastWords()}`
}
