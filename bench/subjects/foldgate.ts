import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { startProgram } from './program.ts'
import type { Subject } from './subject.ts'

const ownCheckout = fileURLToPath(new URL('../..', import.meta.url))

export type FoldgateOptions = {
  readonly upstreamOrigin: string
  /** Default: a SQLite file, as Foldgate has it by default. */
  readonly store?: 'memory:'
  readonly settings?: object
  /** The default profile, where it is not the built-in one. */
  readonly profile?: object
  /** The folder of the checkout whose build it is. Default: this one. */
  readonly checkout?: string
}

/** Foldgate as it is installed: the built program, with its admin listener, records in a folder of its own. */
export async function startFoldgate(options: FoldgateOptions): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'foldgate-bench-'))
  writeFileSync(join(folder, 'foldgate.yaml'), JSON.stringify(options.settings ?? {}))
  const profiles: string[] = []
  if (options.profile !== undefined) {
    mkdirSync(join(folder, 'profiles'))
    writeFileSync(join(folder, 'profiles', 'default.yaml'), JSON.stringify(options.profile))
    profiles.push('--profiles', join(folder, 'profiles'))
  }
  const [port, adminPort] = [await freePort(), await freePort()]
  const { stop, ...started } = await startProgram({
    command: [
      process.execPath,
      ...(process.env['SUBJECT_NODE_FLAGS']?.split(' ') ?? []),
      join(options.checkout ?? ownCheckout, 'dist', 'main.js'),
      `--port=${port}`,
      `--admin-port=${adminPort}`,
      '--log-level=warn',
      `--upstream=${options.upstreamOrigin}/v1`,
      ...(options.store === undefined ? [] : ['--store', options.store]),
      ...profiles,
    ],
    port,
    cwd: folder,
    probe: '/healthz',
  })
  return {
    name: 'Foldgate',
    ...started,
    headers: {},
    stop: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
