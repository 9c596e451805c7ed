import { randomBytes } from 'node:crypto'
import { createApp } from '../app.ts'
import { problemOf } from '../config/problem.ts'
import { loadSettings } from '../config/settings.ts'
import { runDemo } from './demo/run-demo.ts'
import { spokenDialects } from './demo/wires.ts'
import { silentLog } from '../telemetry/log/log.ts'
import { loadCounter } from '../tokens/encodings.ts'
import { meantOr } from '../profiles/near-miss.ts'
import { profileSchema } from '../profiles/schema.ts'
import { openMemoryStore } from '../storage/memory-store.ts'
import { proxiesFrom } from '../upstream/pools.ts'
import { type CommandContext, complain, flagText, paperOf } from './command.ts'

/** Holds a long conversation through a Foldgate of its own, and shows what becomes of it. */
export async function demo(context: CommandContext): Promise<number> {
  const { flags, env, stdout } = context
  const [url, model] = [flagText(flags, 'upstream'), flagText(flags, 'model')]
  if ((url === null) !== (model === null)) {
    return complain(context, ['foldgate demo takes --upstream URL and --model NAME together, or neither'])
  }
  const dialect = flagText(flags, 'dialect') ?? 'chat-completions'
  const spoken = spokenDialects.get(dialect)
  if (spoken === undefined) {
    const names = [...spokenDialects.keys()]
    const advice = meantOr(dialect, names, `it is one of ${names.join(', ')}`)
    return complain(context, [problemOf('--dialect', `unknown dialect ${JSON.stringify(dialect)}`, advice)])
  }
  const own = url === null || model === null ? null : { url, model, apiKey: env['OPENAI_API_KEY'] ?? 'none' }
  const { count } = await loadCounter('o200k_base')
  const { failed } = await runDemo({
    startFoldgate: (upstream) => startFoldgate(context, upstream),
    count,
    spoken,
    write: (text) => void stdout.write(text),
    ...paperOf(context),
    ...(own === null ? {} : { upstream: own }),
  })
  return failed === 0 ? 0 : 1
}

// --- internal ---

const DAY_MS = 86_400_000

const STORE_CHARS_MAX = 16 * 1024 * 1024

/** A Foldgate with default settings: nothing of the user's is read or written. */
async function startFoldgate(
  { env, builtInDirectory, version }: CommandContext,
  upstream: { readonly url: string; readonly windowTokens: number | null },
) {
  const loaded = await loadSettings({
    flags: { upstream: upstream.url, port: '0', 'admin-port': '0', 'log-level': 'silent' },
    env: {},
    cwd: builtInDirectory,
  })
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join('; '))
  const window = upstream.windowTokens === null ? {} : { tokens: upstream.windowTokens }
  const profile = { ...profileSchema.parse({ window }), name: 'default' }
  const app = createApp({
    settings: loaded.settings,
    profiles: () => new Map([['default', profile]]),
    store: openMemoryStore({ bytesMax: STORE_CHARS_MAX, lifetimeMs: DAY_MS }),
    storeTrouble: null,
    secret: randomBytes(32),
    proxies: proxiesFrom(env),
    log: silentLog,
    nowMs: Date.now,
    version,
    tracing: null,
    anyAdminPort: false,
  })
  const { host, port } = await app.listen()
  return { url: `http://${host}:${port}/v1`, close: app.close }
}
