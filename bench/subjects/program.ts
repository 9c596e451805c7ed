import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { request } from 'undici'

/** The core that what is measured runs on; load and upstream run on the others. */
export const SUBJECT_CORE = 0

export type Started = {
  readonly pid: number
  readonly origin: string
  readonly startMs: number
  readonly stop: () => Promise<void>
}

export type ProgramOptions = {
  readonly command: readonly [string, ...string[]]
  readonly port: number
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** A path that it answers, whatever the status. */
  readonly probe: string
  /** Whether it is measured, and so gets the subject's core. Default true; else it runs where the bench does. */
  readonly isMeasured?: boolean
}

/** Whether a process can be held on one core here. */
export const canPin = spawnSync('taskset', ['-c', String(SUBJECT_CORE), 'true']).status === 0

/** What runs still: none of it outlives the bench. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a program on the subject's core and waits until it answers. Throws with its output where it ends before. */
export async function startProgram(options: ProgramOptions): Promise<Started> {
  const { command, port, cwd, env, probe, isMeasured = true } = options
  const [file, ...args] = command
  const pinned: [string, string[]] =
    canPin && isMeasured ? ['taskset', ['-c', String(SUBJECT_CORE), file, ...args]] : [file, args]
  const startedMs = performance.now()
  const child = spawn(pinned[0], pinned[1], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: cwd ?? '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000)
    })
  }
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      running.delete(child)
      resolve()
    })
  })
  const origin = `http://127.0.0.1:${port}`
  for (;;) {
    if (child.exitCode !== null || child.pid === undefined) {
      throw new Error(`${file} ended with ${child.exitCode} before it answered ${origin}${probe}:\n${said}`)
    }
    const answers = await request(`${origin}${probe}`).then(
      async ({ body }) => {
        await body.dump()
        return true
      },
      () => false,
    )
    if (answers) break
    await new Promise((resolve) => {
      setTimeout(resolve, 5)
    })
  }
  return {
    pid: child.pid,
    origin,
    startMs: performance.now() - startedMs,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
