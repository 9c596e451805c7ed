import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file of the installed packages. */
export function inPackages(path: string): string {
  return fileURLToPath(new URL(`../node_modules/${path}`, import.meta.url))
}

/** All that a program is told of where it runs. */
export function environment(home: string) {
  return { HOME: home, TMPDIR: home, PATH: process.env['PATH'] }
}

/** npm leaves a binary out where the machine is another, and brings one that a different C library cannot load. Null where it runs. */
export function whyItDoesNotRun(program: string, ...args: readonly string[]): string | null {
  const home = mkdtempSync(join(tmpdir(), 'foldgate-agent-'))
  const { error, status } = spawnSync(program, [...args, '--version'], { env: environment(home) })
  rmSync(home, { recursive: true })
  if (error !== undefined) return `${[program, ...args].join(' ')} cannot be started here: ${error.message}`
  return status === 0 ? null : `${[program, ...args].join(' ')} --version ended with exit code ${status}`
}
