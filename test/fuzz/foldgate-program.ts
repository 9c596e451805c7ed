import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.ts'

export type ProgramOptions = {
  /** What foldgate.yaml says. */
  readonly settings: object
  /** Profiles by name, as their files would say them. */
  readonly profiles: Readonly<Record<string, object>>
  readonly env?: Readonly<Record<string, string>>
}

/** The real program, serving: a process of its own, so that a crash is seen as one. */
export type FoldgateProgram = {
  readonly port: number
  readonly adminPort: number
  /** What it wrote to stderr, and lines of its log that say something failed. Nothing there is as it should be. */
  readonly complaints: () => readonly string[]
  /** Exit code or signal; null while it runs. */
  readonly ended: () => string | null
  /** The most memory that it ever took of the machine, in bytes; null where that is not to be had (outside of Linux). */
  readonly memoryBytes: () => Promise<number | null>
  readonly close: () => Promise<void>
}

export async function startProgram(options: ProgramOptions): Promise<FoldgateProgram> {
  const cwd = await mkdtemp(join(tmpdir(), 'foldgate-fuzz-'))
  // JSON is YAML.
  await writeFile(join(cwd, 'foldgate.yaml'), JSON.stringify(options.settings))
  await mkdir(join(cwd, 'profiles'))
  for (const [name, profile] of Object.entries(options.profiles))
    await writeFile(join(cwd, 'profiles', `${name}.yaml`), JSON.stringify(profile))
  const adminPort = await freePort()
  const args = [main, '--port', '0', '--admin-port', String(adminPort)]
  const env = { HOME: cwd, NODE_COMPILE_CACHE: compileCache, ...options.env }
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let complaints: string[] = []
  let ended: string | null = null
  const over = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      ended = String(code ?? signal)
      resolve()
    })
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text))
  const port = await new Promise<number>((resolve, reject) => {
    let line = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (line + text).split('\n')
      line = lines.pop() ?? ''
      for (const each of lines) {
        const found = /listens on http:\/\/127\.0\.0\.1:(\d+)\/v1/.exec(each)
        if (found !== null) resolve(Number(found[1]))
        if (each.includes('"level":"error"')) complaints.push(each)
      }
    })
    void over.then(() => reject(new Error(`Foldgate did not start: ${complaints.join('')}`)))
  })
  return {
    port,
    adminPort,
    complaints: () => {
      const told = complaints
      complaints = []
      return told
    },
    ended: () => ended,
    memoryBytes: () => memoryOf(child.pid ?? 0),
    close: async () => {
      if (ended === null) child.kill('SIGKILL')
      await over
      await rm(cwd, { recursive: true, force: true })
    },
  }
}

// --- internal ---

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

const compileCache = fileURLToPath(new URL('../../node_modules/.cache/foldgate', import.meta.url))

async function memoryOf(pid: number): Promise<number | null> {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024 || null
  } catch {
    return null
  }
}
