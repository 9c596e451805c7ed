import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startFoldgateProgram } from '../../support/foldgate-program.ts'
import { freePort } from '../../support/free-port.ts'
import { isObject } from '../../support/strict-upstream/wire-message.ts'
import type { Room } from '../fidelity/senders.ts'
import { MODEL } from '../harness/recordings.ts'
import type { Headers } from '../harness/stage.ts'
import { findPython, install, startProgram } from '../servers/programs.ts'

/** A gateway that runs in front of the upstream. */
export type Running = {
  /** Its base URL for a client, `/v1` included. */
  readonly url: string
  readonly headers: Headers
  /** The first of its processes; null where nothing runs. */
  readonly pid: number | null
  readonly stop: () => Promise<void>
}

/** Why a gateway cannot be had. */
export type Missing = { readonly missing: string }

/** What a gateway is started with. `origin` is the upstream's, without a path. */
type Place = { readonly origin: string; readonly room: Room; readonly folder: string; readonly port: number }

type Command = {
  /** The words of its command line, in groups that belong together. */
  readonly args: readonly (readonly string[])[]
  readonly env?: Readonly<Record<string, string>>
}

/** What stands between client and upstream. */
export type Gateway = {
  readonly name: string
  readonly version: string
  /** How it is set, in a few words, for the table's notes. */
  readonly settings: string
  /** Whether it is the one that has to answer. */
  readonly isOurs: boolean
  /** Starts it; else says why it cannot be had here. */
  readonly open: (origin: string, room: Room) => Promise<Running | Missing>
}

/** No program: the client talks to the upstream itself. */
export const nothingBetween = async (origin: string): Promise<Running> => ({
  url: `${origin}/v1`,
  headers: {},
  pid: null,
  stop: () => Promise.resolve(),
})

/** This checkout as it comes; `told` says whether its profile has the window. */
export const foldgate = (told: boolean): Gateway => ({
  name: told ? 'Foldgate, told the window' : 'Foldgate',
  version: versionIn('package.json', []),
  isOurs: true,
  settings: told ? 'the window in its profile, nothing else' : 'the upstream, and nothing else',
  open: async (origin, room) => {
    const program = await startFoldgateProgram({
      settings: { upstreams: { default: { url: `${origin}/v1` } }, log_level: 'warn' },
      profiles: told ? { default: { window: { tokens: room.windowTokens } } } : {},
      admin: false,
    })
    return {
      url: `http://127.0.0.1:${program.port}/v1`,
      headers: {},
      pid: program.pid,
      stop: () => program.close(),
    }
  },
})

/** LiteLLM starts with no key that could be guessed. */
const masterKey = `sk-${randomUUID()}`

/** Its threshold is a number of the operator's, so it stands here with two. */
function cliffCompaction(name: string, share: number, why: string): Gateway {
  return python({
    name: `CliffCompaction${name}`,
    list: 'cliffcompaction',
    program: 'cliff',
    settings: `\`cliff serve --threshold\`: ${why}`,
    command: ({ origin, room, port }) => ({
      args: [
        ['serve', '--port', `${port}`, '--openai-upstream', origin],
        ['--threshold', `${share * room.windowTokens}`],
      ],
    }),
  })
}

/** The others, each as its own documentation sets it up. */
export const peers: readonly Gateway[] = [
  cliffCompaction('', 1 / 2, 'half of the window, as its README has it for large ones'),
  cliffCompaction(', later', 3 / 4, 'three quarters of the window, where half of so small a one is little'),
  python({
    name: 'context-guardian',
    list: 'context-guardian',
    program: 'context-guardian',
    settings: '`GUARDIAN_NUM_CTX` and `GUARDIAN_RESERVE_OUTPUT`; its summaries by the stand-in',
    command: ({ origin, room, folder, port }) => ({
      args: [],
      env: {
        GUARDIAN_PORT: `${port}`,
        GUARDIAN_UPSTREAM_URL: `${origin}/v1`,
        GUARDIAN_NUM_CTX: `${room.windowTokens}`,
        GUARDIAN_RESERVE_OUTPUT: `${room.reserveTokens}`,
        GUARDIAN_DATA_DIR: folder,
        GUARDIAN_VERSION_CHECK: '0',
      },
    }),
  }),
  python({
    name: 'ctxkeeper',
    list: 'ctxkeeper',
    program: 'ctxkeeper',
    settings:
      '`ctxkeeper --recipe agent --budget --reply-reserve`, its notes written whole by the stand-in (`--notes-mode full`)',
    command: ({ origin, room, folder, port }) => ({
      args: [
        ['--upstream', origin, '--port', `${port}`],
        ['--recipe', 'agent', '--notes-mode', 'full'],
        ['--budget', `${room.windowTokens}`, '--reply-reserve', `${room.reserveTokens}`],
        ['--state-dir', join(folder, 'state')],
      ],
    }),
  }),
  python({
    name: 'distil',
    list: 'distil-llm',
    program: 'distil',
    settings: '`distil proxy --expand --session-delta`; no sampling. It knows no window',
    command: ({ origin, port }) => ({
      args: [
        ['proxy', '--port', `${port}`, '--upstream', origin],
        ['--expand', '--session-delta', '--shadow', '0', '--retention', '0'],
      ],
    }),
  }),
  python({
    name: 'Headroom',
    list: 'headroom-ai',
    program: 'headroom',
    settings:
      '`headroom proxy --mode token`, no rate limit, without its model for prose, which is a download. It knows no window',
    command: ({ origin, port }) => ({
      args: [
        ['proxy', '--port', `${port}`, '--mode', 'token', '--no-rate-limit'],
        ['--openai-api-url', origin],
      ],
      env: {
        HEADROOM_OFFLINE: '1',
        HEADROOM_TELEMETRY: 'off',
        HEADROOM_UPDATE_CHECK: 'off',
        HF_HUB_OFFLINE: '1',
      },
    }),
  }),
  python({
    name: 'LiteLLM',
    list: 'litellm',
    headers: { authorization: `Bearer ${masterKey}` },
    program: 'litellm',
    settings: 'one model, no guardrail: without one it changes no history',
    command: ({ origin, folder, port }) => {
      const model = { model: `openai/${MODEL}`, api_base: `${origin}/v1`, api_key: 'peers' }
      const config = join(folder, 'config.yaml')
      // JSON is YAML.
      writeFileSync(config, JSON.stringify({ model_list: [{ model_name: MODEL, litellm_params: model }] }))
      return {
        args: [['--config', config, '--host', '127.0.0.1', '--port', `${port}`, '--telemetry', 'False']],
        env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_MASTER_KEY: masterKey },
      }
    },
  }),
  {
    name: 'Portkey',
    version: versionIn('bench/package.json', ['dependencies', '@portkey-ai/gateway']),
    settings: 'the gateway by itself: it changes no history',
    isOurs: false,
    open: async (origin) => {
      const installed = startProgram(process.execPath, ['scripts/install-package.ts', 'bench'], {
        cwd: repository,
      })
      if ((await installed.ended) !== 0)
        return { missing: `it could not be installed: ${installed.lastWords()}` }
      const program = join(repository, 'bench/node_modules/@portkey-ai/gateway/build/start-server.js')
      const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${origin}/v1` }
      const env = { NODE_ENV: 'production' }
      return start(
        process.execPath,
        ({ port }) => ({ args: [[program, `--port=${port}`, '--headless']], env }),
        headers,
      )
    },
  },
]

/** What this run has no row for, and why. */
export const unmeasured: readonly string[] = [
  'context-guru: a Go module that could not be downloaded where this run was written, so how it is started is untried',
  'OmniRoute: it needs an install script to build its store, and its upstream and its compression are set in its page',
  'Open WebUI, Claude Code and Codex compact in the client: there is no gateway to send these conversations through',
]

type PythonGateway = Pick<Gateway, 'name' | 'settings'> & {
  /** The name of its list of packages, whose first line is the gateway. */
  readonly list: string
  /** What it installs to be started by. */
  readonly program: string
  /** What a client has to say to it. */
  readonly headers?: Headers
  readonly command: (place: Place) => Command
}

function python({ name, list, program, settings, headers, command }: PythonGateway): Gateway {
  const file = fileURLToPath(new URL(`python/${list}.txt`, import.meta.url))
  return {
    name,
    settings,
    isOurs: false,
    version: /^[\w.[\]-]+==(\S+)/m.exec(readFileSync(file, 'utf8'))?.[1] ?? '',
    open: async (origin, room) => {
      const found = await findPython()
      if ('missing' in found) return found
      const installed = await install(file, found.version)
      if ('missing' in installed) return installed
      return start(
        join(dirname(installed.python), program),
        (place) => command({ ...place, origin, room }),
        headers,
      )
    },
  }
}

/** Starts a gateway in a folder of its own, which is its home, and waits until it answers. */
async function start(
  program: string,
  command: (place: Pick<Place, 'folder' | 'port'>) => Command,
  headers: Headers = {},
): Promise<Running | Missing> {
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-peers-'))
  const port = await freePort()
  const { args, env } = command({ folder, port })
  const started = startProgram(program, args.flat(), {
    cwd: folder,
    env: { HOME: folder, PATH: process.env['PATH'], ...env },
  })
  let isOver = false
  const over = started.ended.then(() => void (isOver = true))
  const stop = async () => {
    await started.stop()
    await over
    await rm(folder, { recursive: true, force: true })
  }
  const deadlineMs = performance.now() + START_MS_MAX
  while (!(await answers(port))) {
    if (isOver || performance.now() > deadlineMs) {
      await stop()
      return { missing: `it did not start: ${started.lastWords()}` }
    }
    await pause(100)
  }
  return { url: `http://127.0.0.1:${port}/v1`, headers, pid: started.pid, stop }
}

/** Any answer will do. */
const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2000) }).then(
    async (answer) => {
      await answer.body?.cancel()
      return true
    },
    () => false,
  )

/** The largest of them load for half a minute on a busy machine. */
const START_MS_MAX = 120_000

const repository = fileURLToPath(new URL('../../../', import.meta.url))

/** What a package file says at a place; its version where none is named. */
function versionIn(file: string, place: readonly string[]): string {
  let found: unknown = JSON.parse(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'))
  for (const key of place.length === 0 ? ['version'] : place) found = isObject(found) ? found[key] : undefined
  return String(found)
}
