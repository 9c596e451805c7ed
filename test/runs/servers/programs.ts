import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** A program that ends with this one, however that comes about. */
export type RunningProgram = {
  /** Waits until it has written something like this to standard output, and gives back what was found. */
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>
  /** The last lines that it wrote, for whoever has to say what went wrong. */
  readonly lastWords: () => string
  /** Its exit code or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Ends it, and what it has started. */
  readonly stop: () => Promise<void>
}

type StartOptions = {
  /** Default: nothing of this environment but what finds programs, compilers and the way to a package registry. */
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
}

/** Starts one as the first of a group of its own; its standard input stays open for as long as it is to run. */
export function startProgram(
  command: string,
  args: readonly string[],
  { env = process.env, cwd = workFolder() }: StartOptions = {},
): RunningProgram {
  const child = spawn(command, args, { cwd, env, stdio: 'pipe', detached: true })
  running.add(child)
  const written = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.output = (written.output + text).slice(-KEPT_CHARS)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.errors = (written.errors + text).slice(-KEPT_CHARS)
  })
  let isRunning = true
  const ended = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code ?? signal ?? ''))
  }).finally(() => {
    isRunning = false
    running.delete(child)
  })
  const lastWords = () => (written.output + written.errors).trim().split('\n').slice(-LAST_LINES).join('\n')
  return {
    said: async (pattern) => {
      const deadlineMs = performance.now() + START_MS_MAX
      for (;;) {
        const found = pattern.exec(written.output)
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

/** A folder of this run, which is removed when it ends. */
export function workFolder(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'foldgate-servers-'))
  return folder
}

/** Whoever ends this program by a signal ends all that it has started. */
export function endAllWithThis(): void {
  process.once('exit', () => {
    for (const child of running) endGroup(child)
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(128 + constants.signals[signal]))
}

// --- internal ---

const KEPT_CHARS = 20_000
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
