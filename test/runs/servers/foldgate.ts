import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import { freePort } from '../../support/free-port.ts'
import { startProgram, workFolder } from './programs.ts'

/** The real program in front of a server. */
export type FoldgateProgram = {
  readonly origin: string
  /** What its admin listener says of each request of a conversation, the oldest first. */
  readonly requests: (conversation: string) => Promise<readonly Record<string, unknown>[]>
  readonly stop: () => Promise<void>
}

/** Starts one with nothing in its settings, and this profile. It keeps its records in memory. */
export async function startFoldgate(server: string, profile: object = {}): Promise<FoldgateProgram> {
  const home = mkdtempSync(join(workFolder(), 'foldgate-'))
  mkdirSync(join(home, 'profiles'))
  writeFileSync(join(home, 'foldgate.yaml'), '{}')
  // JSON is YAML.
  writeFileSync(join(home, 'profiles', 'default.yaml'), JSON.stringify(profile))
  const adminPort = await freePort()
  const flags = ['--port', '0', '--admin-port', String(adminPort), '--store', 'memory:']
  const program = startProgram(process.execPath, [main, ...flags, '--upstream', `${server}/v1`], {
    cwd: home,
    env: { HOME: home, PATH: process.env['PATH'] },
  })
  const [, origin = ''] = await program.said(/listens on (http:\/\/127\.0\.0\.1:\d+)\/v1/)
  return {
    origin,
    requests: async (conversation) => {
      const answer = await fetch(`http://127.0.0.1:${adminPort}/conversations/${conversation}`)
      const detail: unknown = await answer.json()
      return isObject(detail) && Array.isArray(detail['rows']) ? detail['rows'].filter(isObject) : []
    },
    stop: program.stop,
  }
}

// --- internal ---

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
