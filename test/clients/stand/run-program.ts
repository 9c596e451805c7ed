import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export type Program = {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Runs a program to its end, without an input, or ends it after a while: `exitCode` is null then. `output` is what it said on both streams. */
export async function runProgram({ command, args, cwd, env }: Program) {
  const program = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX })
  const exited = new Promise<number | null>((resolve, reject) => {
    program.on('error', reject)
    program.on('close', resolve)
  })
  const [said, complained, exitCode] = await Promise.all([text(program.stdout), text(program.stderr), exited])
  return { exitCode, output: said + complained }
}

// --- internal ---

/** Their work takes seconds; a program that waits for something else is not waited for. */
const RUN_MS_MAX = 70_000
