import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { adminPlace } from '../../../admin/ask-admin.ts'
import type { OnEnd } from '../../../config/temporary-folder.ts'
import { serve, settingsFolder, type Program } from '../../../programs/program.ts'
import { smallWindow } from '../wire/request-kinds.ts'

/** A Foldgate in a process of its own, whose operator looks on. */
export type Served = Program & {
  /** What a client takes as its base URL. */
  readonly url: string
  readonly adminOrigin: string
}

/** A folder with settings under which it ends at once, and with an empty folder `disk`. */
export async function programFolder(settings: object, onEnd: OnEnd): Promise<string> {
  const cwd = await settingsFolder({ drain: { delay_s: 0, timeout_s: 10 }, ...settings }, smallWindow, onEnd)
  await mkdir(join(cwd, 'disk'))
  return cwd
}

/** Starts one there, by `start` where the usual way will not do. */
export async function startProgram<Started extends Program & { readonly url: string }>(
  cwd: string,
  upstreamUrl: string,
  start: (args: readonly string[]) => Promise<Started>,
): Promise<Started & { readonly adminOrigin: string }> {
  for (let attempt = 1; ; attempt += 1) {
    const admin = await adminPlace()
    const foldgate = await start(['--upstream', upstreamUrl, '--admin-port', String(admin.port)])
    // Another program may have been faster, and would answer in its place.
    const [line] = await foldgate.said(/.*listens on .*/)
    const isWatched = line.includes(`the admin listener is at ${admin.origin}`)
    if (isWatched) return { ...foldgate, adminOrigin: admin.origin }
    await endInOrder(foldgate)
    expect(attempt, `an admin listener in ${cwd}`).toBeLessThan(ATTEMPTS_MAX)
  }
}

/** Starts one there in the usual way. */
export function startUsual(cwd: string, upstreamUrl: string, onEnd: OnEnd): Promise<Served> {
  return startProgram(cwd, upstreamUrl, (args) => serve(args, { cwd, onEnd }))
}

/** Its lines, as the tests in this process have them of theirs. */
export function linesOf(program: Pick<Program, 'stdout'>): readonly string[] {
  return program
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('{'))
}

/** Ends it by a signal; fails unless it ends in order. */
export async function endInOrder(program: Pick<Program, 'child' | 'ended'>): Promise<void> {
  program.child.kill('SIGTERM')
  expect(await program.ended).toBe(0)
}

// --- internal ---

const ATTEMPTS_MAX = 5
