import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { temporaryFolder, type OnEnd } from '../config/temporary-folder.ts'
import { startCommand, type Running } from '../support/run-command.ts'

export type Program = Omit<Running, 'pid'>

export type ProgramOptions = {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Default: this Node and `src/main.ts`. */
  readonly command?: readonly [string, string]
  /** Who ends it, if nobody else does. Default: the running test. */
  readonly onEnd?: OnEnd
}

export const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The program is started a hundred times: compiled once, it takes half the time. */
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/foldgate', import.meta.url))

/**
 * Runs the real program, with nothing of this environment but what the test gives it. Its home is where it runs, so
 * that it keeps its records there.
 */
export function runProgram(args: readonly string[], options: ProgramOptions): Program {
  const [node, script] = options.command ?? [process.execPath, main]
  const env = { HOME: options.cwd, NODE_COMPILE_CACHE: compileCache, ...options.env }
  const program = startCommand(node, [script, ...args], { cwd: options.cwd, env, stdio: 'pipe' })
  const { onEnd = onTestFinished } = options
  onEnd(async () => {
    if (program.child.exitCode === null) program.child.kill('SIGKILL')
    await program.ended
  })
  return program
}

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
