import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApp, type App } from '../../src/app.ts'
import type { Listening } from '../../src/server/listeners.ts'
import { loadSettings, type Settings, type SettingsOptions } from '../../src/config/settings.ts'
import type { FlagValues } from '../../src/config/flags.ts'
import { keptLog } from './kept-log.ts'
import { profilesOf } from './profiles.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import { openMemoryStore } from '../../src/storage/memory-store.ts'
import type { Store } from '../../src/storage/store.ts'
import type { Tracing } from '../../src/telemetry/tracing/tracing.ts'

export type FoldgateOptions = {
  /** The upstream's address, with its `/v1`. */
  readonly upstream: string
  /** Further upstreams by name, as foldgate.yaml would say them. */
  readonly upstreams?: Upstreams
  /** What else foldgate.yaml would say; flags and environment win over it. */
  readonly settings?: object
  /** The one profile, as its file would say it. */
  readonly profile?: object
  /** Instead of it: several by name, `default` among them; a function tells those in force. */
  readonly profiles?: ReadonlyMap<string, Profile> | (() => ReadonlyMap<string, Profile>)
  readonly store?: Store
  /** Why that one is in memory. */
  readonly storeTrouble?: string
  readonly flags?: FlagValues
  readonly env?: Readonly<Record<string, string>>
  readonly nowMs?: () => number
  readonly tracing?: Tracing
  /** The URL of an HTTP proxy that every other host than this machine is reached by. */
  readonly httpProxy?: string
  /** What it says its version is. */
  readonly version?: string
}

export type RunningFoldgate = {
  /** What a client takes as its base URL. */
  readonly url: string
  /** Where it listens, the admin listener included. */
  readonly listening: Listening
  readonly app: App
  /** Every line that was logged. */
  readonly log: readonly string[]
  readonly close: () => Promise<void>
}

export type Upstreams = Readonly<Record<string, { readonly url: string; readonly [key: string]: unknown }>>

const folder = fileURLToPath(new URL('.', import.meta.url))

/** A Foldgate of the test's own on a free port, in this process. */
export async function startFoldgate(options: FoldgateOptions): Promise<RunningFoldgate> {
  const settings = await settingsOf(options)
  const profiles = options.profiles ?? profilesOf({ default: options.profile ?? {} })
  const { log, lines } = keptLog()
  const app = createApp({
    settings,
    profiles: typeof profiles === 'function' ? profiles : () => profiles,
    store: options.store ?? openMemoryStore({ bytesMax: 64 * 1024 * 1024, lifetimeMs: 0 }),
    storeTrouble: options.storeTrouble ?? null,
    secret: Buffer.alloc(32, 7),
    proxies: { httpProxy: options.httpProxy ?? '', httpsProxy: '', noProxy: '' },
    log,
    nowMs: options.nowMs ?? Date.now,
    version: options.version ?? '0.0.0-test',
    tracing: options.tracing ?? null,
    anyAdminPort: false,
  })
  const listening = await app.listen()
  return {
    url: `http://${listening.host}:${listening.port}/v1`,
    listening,
    app,
    log: lines,
    close: app.close,
  }
}

async function settingsOf(options: FoldgateOptions): Promise<Settings> {
  const { upstream, upstreams, settings, env = {} } = options
  // Tests run beside each other, and the admin listener has no port of its choice.
  const flags = { upstream, port: '0', 'admin-port': '0', ...options.flags }
  if (upstreams === undefined && settings === undefined) return load({ flags, env, cwd: folder })
  const cwd = await mkdtemp(join(tmpdir(), 'foldgate-settings-'))
  try {
    // JSON is YAML.
    const file = { ...settings, ...(upstreams !== undefined && { upstreams }) }
    await writeFile(join(cwd, 'foldgate.yaml'), JSON.stringify(file))
    return await load({ flags, env, cwd })
  } finally {
    await rm(cwd, { recursive: true })
  }
}

async function load(options: SettingsOptions): Promise<Settings> {
  const loaded = await loadSettings(options)
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded.settings
}
