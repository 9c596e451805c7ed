import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { nearestProgram } from './find-program.ts'
import type { Environment } from '../../config/api-keys.ts'
import { type Additions, LaunchError } from './known-program.ts'

export type ChildOptions = {
  /** The program and its arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether a terminal's keys reach it without us. */
  readonly hasTerminal: boolean
  readonly onSignal: (signal: NodeJS.Signals, listener: () => void) => void
}

/**
 * Starts a command on this process's own terminal, hands signals on to it, and waits for its end. Resolves with its exit code,
 * as a shell tells it; rejects with a `LaunchError` where it never began.
 */
export function runChild({ command, env, cwd, hasTerminal, onSignal }: ChildOptions): Promise<number> {
  const [program = '', ...args] = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, cwd, stdio: 'inherit' })
    let isRunning = true
    for (const signal of relayed) {
      // The terminal signals to all that runs in the foreground: twice would be an answer too many.
      const reachesIt = hasTerminal && fromKeys.has(signal)
      onSignal(signal, () => {
        if (isRunning && !reachesIt) child.kill(signal)
      })
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      isRunning = false
      if (child.pid === undefined) reject(notStarted(program, error.code ?? error.message))
    })
    child.once('exit', (code, signal) => {
      isRunning = false
      resolve(code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal]))
    })
  })
}

/** The environment of a program that is started: the one it would have had, and what points it here. */
export function childEnvironment(env: Environment, additions: Additions): Record<string, string | undefined> {
  return { ...env, ...additions.env, ...aroundProxies(env) }
}

// --- internal ---

/** What shells tell of a program that a signal ended: this and the signal's number. */
const SIGNALLED = 128

/** What shells tell of a program that is not there, and of one that cannot be started. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

const relayed: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']

const fromKeys: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT'])

function notStarted(program: string, reason: string): LaunchError {
  const begins = `foldgate run: ${program} cannot be started`
  if (reason !== 'ENOENT') return new LaunchError(`${begins} (${reason})`, NOT_EXECUTABLE)
  const where = program.includes('/') ? 'there is no such file' : 'it is not on the PATH'
  const near = nearestProgram(program)
  const advice = near === null ? '' : ` — did you mean "${near}"?`
  return new LaunchError(`${begins}: ${where}${advice}`, NOT_FOUND)
}

const proxyNames = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']

const ownMachine = ['127.0.0.1', 'localhost']

/** A proxy on another machine would look for Foldgate there. */
function aroundProxies(env: Environment): Record<string, string> {
  if (proxyNames.every((name) => (env[name] ?? '') === '')) return {}
  const excepted = (env['NO_PROXY'] ?? env['no_proxy'] ?? '').split(',').map((host) => host.trim())
  if (excepted.includes('*')) return {}
  const hosts = [...new Set([...excepted.filter((host) => host !== ''), ...ownMachine])].join(',')
  return { NO_PROXY: hosts, no_proxy: hosts }
}
