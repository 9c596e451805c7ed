import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { startCommand } from './run-command.ts'

export type ProgramOptions = {
  /** What foldgate.yaml says. */
  readonly settings: object
  /** Profiles by name, as their files would say them. */
  readonly profiles: Readonly<Record<string, object>>
  readonly env?: Readonly<Record<string, string>>
  /** Options of Node itself. */
  readonly nodeFlags?: readonly string[]
  readonly admin?: boolean
}

/** The real program, serving: a process of its own, so that a crash is seen as one. */
export type FoldgateProgram = Awaited<ReturnType<typeof startOnce>>

/** Starts the program with nothing of this environment, and waits until it is ready. */
export async function startFoldgateProgram(options: ProgramOptions): Promise<FoldgateProgram> {
  try {
    return await startOnce(options)
  } catch (error) {
    // Somebody else may have taken a port since it was found free.
    if (!(error instanceof Error && /is taken/.test(error.message))) throw error
    return startOnce(options)
  }
}

async function startOnce(options: ProgramOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-program-'))
  // JSON is YAML.
  await writeFile(join(folder, 'foldgate.yaml'), JSON.stringify(options.settings))
  await mkdir(join(folder, 'profiles'))
  for (const [name, profile] of Object.entries(options.profiles))
    await writeFile(join(folder, 'profiles', `${name}.yaml`), JSON.stringify(profile))
  const port = await freePort()
  const adminPort = options.admin === false ? 0 : await freePort()
  const flags = ['--port', String(port), '--admin-port', String(adminPort)]
  const running = startCommand(process.execPath, [...(options.nodeFlags ?? []), main, ...flags], {
    cwd: folder,
    env: { HOME: folder, PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCache, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const { child } = running
  const taken = { stderr: 0, stdout: 0 }
  let ended: string | null = null
  const over = running.ended.then((how) => void (ended = String(how)))
  /** Whole lines since they were last taken. */
  const linesOf = (name: keyof typeof taken): readonly string[] => {
    const text = running[name]()
    const end = text.lastIndexOf('\n') + 1
    const lines = text.slice(taken[name], end).split(/(?<=\n)/)
    taken[name] = end
    return lines
  }
  /** Since they were last taken: what it wrote to stderr, and lines of its log that say something failed. None should. */
  const complaints = (): readonly string[] => [
    ...linesOf('stderr').filter((line) => !inspectorSays.test(line)),
    ...linesOf('stdout').filter((line) => failureInLog.test(line)),
  ]
  const deadlineMs = performance.now() + START_MS_MAX
  while (!(await isReady(port))) {
    if (ended !== null || performance.now() > deadlineMs) {
      child.kill('SIGKILL')
      throw new Error(`Foldgate did not start: ${complaints().join('')}`)
    }
    await pause(10)
  }
  const removed = async (): Promise<void> => {
    await over
    await rm(folder, { recursive: true, force: true })
  }
  return {
    pid: child.pid ?? 0,
    port,
    /** 0 where it was started without an admin listener. */
    adminPort,
    /** The folder it runs in, which goes with it: its home, where it keeps what it keeps. */
    folder,
    /** Where its inspector listens; '' where it has none. */
    inspector: /ws:\S+/.exec(running.stderr())?.[0] ?? '',
    complaints,
    /** Exit code or signal; null while it runs. */
    ended: () => ended,
    /** The most memory that it ever took of the machine, in bytes; null where that is not to be had (outside of Linux). */
    memoryBytes: () => memoryOf(child.pid ?? 0),
    /** Asks what was loaded into it beside the program. Null where it has ended, or ends before it answers. */
    ask: async (question: string): Promise<unknown> => {
      if (ended !== null || !child.connected) return null
      const answered = new Promise<unknown>((resolve) => {
        child.once('message', resolve)
      })
      // One that cannot be asked any more is about to end.
      child.send(question, () => {})
      return Promise.race([answered, over.then(() => null)])
    },
    /** Ends it by SIGTERM. Resolves with its exit code, or the signal that ended it. */
    stop: async () => {
      child.kill('SIGTERM')
      await removed()
      return ended ?? ''
    },
    close: async () => {
      if (ended === null) child.kill('SIGKILL')
      await removed()
    },
  }
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The program is started often: compiled once, it takes half the time. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/foldgate', import.meta.url))

/** A start takes a second; what has not begun by then never does. */
const START_MS_MAX = 60_000

const inspectorSays = /^(?:\s*$|Debugger |For help, see: |Waiting for the debugger)/

const failureInLog = /"level":"error"|internal_error/

const isReady = async (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.ok
    },
    () => false,
  )

async function memoryOf(pid: number): Promise<number | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024 || null
  } catch {
    return null
  }
}
