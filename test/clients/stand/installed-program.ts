import { spawnSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'

export const inPackages = (path: string): string =>
  fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url))

export const environment = (home: string) => ({ HOME: home, TMPDIR: home, PATH: process.env['PATH'] })

/** npm leaves a binary out where the machine is another, and brings one that a different C library cannot load. Null where it runs. */
export function whyItDoesNotRun(program: string, ...args: readonly string[]): string | null {
  const home = mkdtempSync(join(tmpdir(), 'foldgate-agent-'))
  const { error, status } = spawnSync(program, [...args, '--version'], { env: environment(home) })
  rmSync(home, { recursive: true })
  if (error !== undefined) return `${[program, ...args].join(' ')} cannot be started here: ${error.message}`
  return status === 0 ? null : `${[program, ...args].join(' ')} --version ended with exit code ${status}`
}

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

const RUN_MS_MAX = 70_000
