import { spawn, type ChildProcess, type SpawnOptions, spawnSync } from 'node:child_process'
import { cp, mkdir, readdir } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { dirname, join, relative } from 'node:path'

/** A program that was started. */
export type Running = {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Both, as they came. */
  readonly output: () => string
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Waits until it has said something like this. */
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>
  /** The program's own id on this machine, behind whatever started it. */
  readonly pid: () => Promise<number>
}

/** Starts a program and keeps what it says. */
export function startCommand(
  program: string,
  args: readonly string[],
  options: SpawnOptions & { readonly pid?: (own: number) => Promise<number> },
): Running {
  const { pid = async (own) => own, ...rest } = options
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...rest })
  const texts = { stdout: '', stderr: '', both: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
      texts.both += text
    })
  }
  let isOver = false
  const ended = new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code ?? signal ?? ''))
  }).finally(() => {
    isOver = true
  })
  return {
    child,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    output: () => texts.both,
    ended,
    said: async (pattern) => {
      for (;;) {
        // What it said last is read before it is given up.
        const wasOver = isOver
        const found = pattern.exec(`${texts.stdout}\n${texts.stderr}`)
        if (found !== null) return found
        if (wasOver) throw new Error(`It ended without ${String(pattern)}:\n${texts.both}`)
        await setTimeout(10)
      }
    },
    pid: () => pid(child.pid ?? 0),
  }
}

/** Ends a program that was started with a process group of its own, and whatever it has started. */
export async function endGroup({ child, ended }: Running): Promise<void> {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  } catch (error) {
    // All of it has ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
  await ended
}

/** Runs a program to its end; rejects with its last words where it fails. */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<string> {
  const running = startCommand(program, args, options)
  const code = await running.ended
  if (code === 0) return running.output()
  throw new Error(
    `${[program, ...args].join(' ')}\nended with ${code}:\n${running.output().trim().split('\n').slice(-20).join('\n')}`,
  )
}

/** Copies all tracked files as they are now, but those that are left out. Resolves with how many there are. */
export async function copyTracked(
  repository: string,
  folder: string,
  isLeftOut: (path: string) => boolean = () => false,
): Promise<number> {
  const files = trackedFiles(repository).filter((path) => !isLeftOut(path))
  for (const path of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    // What was deleted and not yet committed is no longer there.
    await cp(join(repository, path), join(folder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
  return files.length
}

/** Every file below a folder, by its path from there. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
}

export type Steps = ReturnType<typeof openSteps>

/** The steps of a run, told one by one. One that fails is told with its reason, and the run goes on where it can. */
export function openSteps(write: (text: string) => void) {
  let passed = 0
  let failed = 0
  const notSeen: string[] = []
  return {
    heading: (text: string) => write(`\n${text}\n`),
    /** Does it and says so; null where it failed. What it returns is said behind it. */
    step: async <Result>(title: string, work: () => Promise<Result> | Result): Promise<Result | null> => {
      const startedMs = performance.now()
      const took = () => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
      try {
        const result = await work()
        passed += 1
        write(`  ok      ${title}${typeof result === 'string' ? `: ${result}` : ''} (${took()})\n`)
        return result
      } catch (error) {
        failed += 1
        const reason = error instanceof Error ? error.message : String(error)
        write(`  FAILED  ${title} (${took()})\n${reason.replaceAll(/^/gm, '            ')}\n`)
        return null
      }
    },
    /** What a user of a terminal saw, as it stood there. */
    record: (texts: readonly string[]) => write(`\n${texts.join('\n').replaceAll(/^/gm, '    | ')}\n\n`),
    /** Something that this machine does not let us look at. */
    unseen: (what: string) => {
      notSeen.push(what)
      write(`  unseen  ${what}\n`)
    },
    /** How it went, in one line; the exit code. */
    end: () => {
      const unseen = notSeen.length === 0 ? '' : `, ${notSeen.length} not to be seen on this machine`
      write(`\n${passed} passed, ${failed} failed${unseen}\n`)
      return failed === 0 ? 0 : 1
    },
  }
}

function trackedFiles(repository: string): readonly string[] {
  const told = spawnSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' })
  if (told.status !== 0) throw new Error(`git does not tell the tracked files: ${told.stderr}`)
  return told.stdout.split('\0').filter((path) => path !== '')
}
