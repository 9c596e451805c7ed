import { fileURLToPath } from 'node:url'
import { createApp, type App } from '../../src/app.ts'
import { loadSettings } from '../../src/config/settings.ts'
import type { FlagValues } from '../../src/config/flags.ts'
import { createLog } from '../../src/log.ts'
import { profileSchema, type Profile } from '../../src/profiles/schema.ts'
import { openMemoryStore } from '../../src/stores/memory-store.ts'
import type { Store } from '../../src/stores/store.ts'

export type FoldgateOptions = {
  /** The upstream's address, with its `/v1`. */
  readonly upstream: string
  /** The one profile, as its file would say it. */
  readonly profile?: object
  /** Instead of it: several by name, `default` among them. */
  readonly profiles?: ReadonlyMap<string, Profile>
  readonly store?: Store
  readonly flags?: FlagValues
  readonly env?: Readonly<Record<string, string>>
  readonly nowMs?: () => number
}

export type RunningFoldgate = {
  /** What a client takes as its base URL. */
  readonly url: string
  readonly app: App
  /** Every line that was logged. */
  readonly log: readonly string[]
  readonly close: () => Promise<void>
}

const folder = fileURLToPath(new URL('.', import.meta.url))

/** A Foldgate of the test's own on a free port, in this process. */
export async function startFoldgate(options: FoldgateOptions): Promise<RunningFoldgate> {
  const loaded = await loadSettings({
    flags: { upstream: options.upstream, port: '0', ...options.flags },
    env: options.env ?? {},
    cwd: folder,
  })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  const profile = { ...profileSchema.parse(options.profile ?? {}), name: 'default' }
  const profiles = options.profiles ?? new Map([['default', profile]])
  const lines: string[] = []
  const app = createApp({
    settings: loaded.settings,
    profiles: () => profiles,
    store: options.store ?? openMemoryStore({ charsMax: 64 * 1024 * 1024, lifetimeMs: 0 }),
    secret: Buffer.alloc(32, 7),
    proxies: { httpProxy: '', httpsProxy: '', noProxy: '' },
    log: createLog({
      level: 'debug',
      write: (line) => void lines.push(line),
      pretty: false,
      now: () => new Date(0),
    }),
    nowMs: options.nowMs ?? Date.now,
  })
  const { host, port } = await app.listen()
  return { url: `http://${host}:${port}/v1`, app, log: lines, close: app.close }
}
