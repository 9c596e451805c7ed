import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'
import { pythonFolder, type PackageList, startProgram, workFolder } from './programs.ts'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../support/strict-upstream/wire-message.ts'

export type ServerOptions = {
  readonly kind: PackageList
  readonly model: string
  readonly contextTokens: number
  /** Requests that it works on at a time. Only llama.cpp's has more than one. Default 1. */
  readonly slots?: number
  /** Slots draw on one pool, as is llama.cpp's default, or each has its part of the context. Default `shared`. */
  readonly pool?: 'shared' | 'apart'
  /** How llama-cpp-python's server writes prompts and reads replies. Default: as the model's file says. */
  readonly chatFormat?: 'chatml-function-calling'
}

export type RealServer = { readonly origin: string; readonly stop: () => Promise<void> }

export async function startServer(python: string, options: ServerOptions): Promise<RealServer> {
  const { kind, model, contextTokens, slots = 1, pool = 'shared', chatFormat } = options
  if (kind === 'llama-cpp') {
    const args = [model, String(contextTokens), String(slots), pool]
    const program = startProgram(python, [join(pythonFolder, 'llama_cpp_server.py'), ...args])
    const [origin] = await program.said(/^http:\/\/\S+$/m)
    return { origin, stop: program.stop }
  }
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const args = [model, String(contextTokens), String(port), ...(chatFormat === undefined ? [] : [chatFormat])]
  const program = startProgram(python, [join(pythonFolder, 'llama_cpp_python_server.py'), ...args])
  const hasEnded = program.ended.then(() => true)
  while (!(await isListening(origin)))
    if (await Promise.race([hasEnded, pause(POLL_MS, false)]))
      throw new Error(`llama-cpp-python's server does not listen:\n${program.lastWords()}`)
  return { origin, stop: program.stop }
}

const POLL_MS = 50

const isListening = async (origin: string): Promise<boolean> =>
  fetch(`${origin}/v1/models`).then(
    async (answer) => {
      await answer.arrayBuffer()
      return answer.ok
    },
    () => false,
  )

export type FoldgateProgram = Awaited<ReturnType<typeof startFoldgate>>

/** The real program in front of a server, with nothing in its settings, and this profile. It keeps its records in memory. */
export async function startFoldgate(server: string, profile: object = {}) {
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
    /** What its admin listener says of each request of a conversation, the oldest first. */
    requests: async (conversation: string) => {
      const answer = await fetch(`http://127.0.0.1:${adminPort}/conversations/${conversation}`).catch(
        (error: unknown) => {
          const why = `Foldgate's admin listener does not answer at ${adminPort}. Foldgate said last:\n${program.lastWords()}`
          throw new Error(why, { cause: error })
        },
      )
      const detail: unknown = await answer.json()
      return isObject(detail) && Array.isArray(detail['rows']) ? detail['rows'].filter(isObject) : []
    },
    stop: program.stop,
  }
}

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
