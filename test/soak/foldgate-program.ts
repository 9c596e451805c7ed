import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.ts'

export type FoldgateProgram = {
  readonly pid: number
  readonly port: number
  /** Where its inspector listens. */
  readonly inspector: string
  /** What it wrote besides its log, and lines of the log that tell of a failure of its own. */
  readonly complaints: () => readonly string[]
  /** Ends it by SIGTERM. Resolves with the exit code. */
  readonly stop: () => Promise<number | null>
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The real program, with its store in a file of its own. */
export async function startFoldgateProgram(options: {
  readonly upstream: string
  readonly settings: object
  readonly profile: object
}): Promise<FoldgateProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'foldgate-soak-'))
  writeFileSync(join(folder, 'foldgate.yaml'), JSON.stringify(options.settings))
  const profiles = join(folder, 'profiles')
  mkdirSync(profiles)
  writeFileSync(join(profiles, 'default.yaml'), JSON.stringify(options.profile))
  const port = await freePort()
  const flags = ['--port', String(port), '--admin-port', '0', '--store', `sqlite:${folder}/records.sqlite`]
  const child = spawn(
    process.execPath,
    ['--inspect=127.0.0.1:0', main, ...flags, '--upstream', options.upstream],
    {
      cwd: folder,
      env: { HOME: folder, PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const exited = once(child, 'close')
  let log = ''
  let errors = ''
  child.stdout.on('data', (piece: Buffer) => {
    log += piece.toString()
  })
  child.stderr.on('data', (piece: Buffer) => {
    errors += piece.toString()
  })
  const deadline = Date.now() + START_MS_MAX
  while (!(await isReady(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`Foldgate does not listen (exit code ${child.exitCode}): ${log}${errors}`)
    }
    await pause(20)
  }
  return {
    pid: child.pid ?? 0,
    port,
    inspector: /ws:\S+/.exec(errors)?.[0] ?? '',
    complaints: () => [
      ...errors.split('\n').filter((line) => line !== '' && !inspectorSays.test(line)),
      ...log.split('\n').filter((line) => line.includes('internal_error')),
    ],
    stop: async () => {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true })
      return child.exitCode
    },
  }
}

// --- internal ---

/** A start takes a second; what has not begun by then never does. */
const START_MS_MAX = 60_000

const inspectorSays = /^(?:Debugger |For help, see: |Waiting for the debugger)/

async function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.ok
    },
    () => false,
  )
}
