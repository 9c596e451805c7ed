import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { temporaryFolder, type OnEnd } from '../config/temporary-folder.ts'

export type Program = {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  /** Exit code or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Waits until the program has written something like this. */
  readonly said: (pattern: RegExp) => Promise<RegExpExecArray>
}

export type ProgramOptions = {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Default: this Node and `src/main.ts`. */
  readonly command?: readonly [string, string]
  /** Who ends it, if nobody else does. Default: the running test. */
  readonly onEnd?: OnEnd
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The program is started a hundred times: compiled once, it takes half the time. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/foldgate', import.meta.url))

/**
 * Runs the real program, with nothing of this environment but what the test gives it. Its home is where it runs, so
 * that it keeps its records there.
 */
export function runProgram(args: readonly string[], options: ProgramOptions): Program {
  const [node, script] = options.command ?? [process.execPath, main]
  const env = { HOME: options.cwd, NODE_COMPILE_CACHE: compileCache, ...options.env }
  const child = spawn(node, [script, ...args], { cwd: options.cwd, env, stdio: 'pipe' })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? ''))
  })
  const { onEnd = onTestFinished } = options
  onEnd(async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    said: async (pattern) => {
      let running = true
      void ended.then(() => {
        running = false
      })
      for (;;) {
        const found = pattern.exec(`${stdout}\n${stderr}`)
        if (found !== null) return found
        if (!running) throw new Error(`It ended without ${String(pattern)}:\n${stdout}\n${stderr}`)
        await new Promise((resolve) => {
          setTimeout(resolve, 10)
        })
      }
    },
  }
}

/** Runs it to its end. */
export async function output(args: readonly string[], options: ProgramOptions) {
  const program = runProgram(args, options)
  const code = await program.ended
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

/** A Foldgate that serves, on a port of its choice, without the admin listener unless `args` say where. */
export async function serve(args: readonly string[], options: ProgramOptions) {
  const program = runProgram(['--port', '0', '--admin-port', '0', ...args], options)
  const [, url = '', port = ''] = await program.said(/listens on (http:\/\/127\.0\.0\.1:(\d+)\/v1)/)
  return { ...program, url, port, origin: url.slice(0, -'/v1'.length) }
}

/** A folder with these settings and this one profile, for one program or several that share them. */
export function settingsFolder(settings: object, profile: object, onEnd?: OnEnd): Promise<string> {
  // JSON is YAML.
  const files = {
    'foldgate.yaml': JSON.stringify(settings),
    'profiles/default.yaml': JSON.stringify(profile),
  }
  return temporaryFolder(files, onEnd)
}
