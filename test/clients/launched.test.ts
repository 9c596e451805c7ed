import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { closeAll, listen } from '../support/free-port.ts'
import { environment, inPackages, runProgram, whyItDoesNotRun } from './stand/installed-program.ts'
import { ollamaStand } from './stand/ollama-stand.ts'
import { startReadingModel, type Dialect } from './stand/reading-models.ts'

type Launched = {
  readonly name: string
  readonly dialect: Dialect
  readonly path: string
  readonly command: readonly string[]
  readonly args: readonly string[]
  /** Files of its home. They name another server, where they can. */
  readonly files: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** What leads it to a server with a key, where it can be led there without Foldgate. */
  readonly ownWay?: (origin: string) => Record<string, string>
}

const elsewhere = 'http://127.0.0.1:9'
const codexHome = (provider: string): string => `model = "gpt-5-codex"
model_provider = "${provider}"
openai_base_url = "${elsewhere}/v1"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.mine]
name = "mine"
base_url = "${elsewhere}/v1"
wire_api = "responses"
[features]
plugins = false
[analytics]
enabled = false
`

const codex = [process.execPath, inPackages('@openai/codex/bin/codex.js')]
const claude = [inPackages('@anthropic-ai/claude-code-linux-x64/claude')]
const opencode = [inPackages('opencode-linux-x64-baseline/bin/opencode')]
const qwen = [process.execPath, inPackages('@qwen-code/qwen-code/cli.js')]
const KEY = 'sk-its-own'
const RUN_MS = 100_000
const TASK = 'Report on the files of this folder.'
const LAST_WORDS = 'The report is complete.'

const programs: readonly Launched[] = [
  {
    name: 'Claude Code',
    dialect: 'messages',
    path: '/v1/messages?beta=true',
    command: claude,
    args: ['--print', TASK],
    files: {
      '.claude/settings.json': `{"env":{"ANTHROPIC_BASE_URL":"${elsewhere}","ANTHROPIC_AUTH_TOKEN":"PLANTED"}}`,
    },
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    ownWay: (origin) => ({ ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: KEY }),
  },
  {
    name: 'Codex',
    dialect: 'responses',
    path: '/v1/responses',
    command: codex,
    args: ['exec', '--skip-git-repo-check', TASK],
    files: { '.codex/config.toml': codexHome('mine'), '.codex/auth.json': '{"OPENAI_API_KEY":"PLANTED"}' },
    ownWay: (origin) => ({ OPENAI_BASE_URL: `${origin}/v1`, CODEX_API_KEY: KEY }),
  },
  {
    name: 'opencode',
    dialect: 'chat completions',
    path: '/v1/chat/completions',
    command: opencode,
    args: ['run', TASK],
    files: {
      '.config/opencode/opencode.json': `{"$schema":"https://opencode.ai/config.json","model":"openai/gpt-5","provider":{"openai":{"options":{"baseURL":"${elsewhere}/v1","apiKey":"PLANTED"}}}}`,
    },
    env: {
      OPENCODE_CONFIG_CONTENT: '{"autoupdate":false,"share":"disabled"}',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      npm_config_offline: 'true',
    },
  },
  {
    name: 'pi',
    dialect: 'chat completions',
    path: '/v1/chat/completions',
    command: [process.execPath, inPackages('@mariozechner/pi-coding-agent/dist/cli.js')],
    args: ['--print', '--no-session', TASK],
    files: {
      '.pi/agent/models.json': `{"providers":{"mine":{"baseUrl":"${elsewhere}/v1","apiKey":"PLANTED","api":"openai-completions","models":[{"id":"mine"}]}}}`,
    },
    env: { PI_OFFLINE: '1' },
  },
  {
    name: 'Qwen Code',
    dialect: 'chat completions',
    path: '/v1/chat/completions',
    command: qwen,
    args: ['--yolo', '--prompt', TASK],
    files: {
      '.qwen/settings.json': JSON.stringify({
        // It would write which form of settings this is.
        $version: 4,
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        tools: { useRipgrep: false },
        security: { auth: { selectedType: 'qwen-oauth' } },
        model: { name: 'mine' },
        modelProviders: { openai: [{ id: 'mine', baseUrl: `${elsewhere}/v1`, envKey: 'X' }] },
      }),
    },
    ownWay: (origin) => ({ OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_KEY: KEY, OPENAI_MODEL: 'm' }),
  },
]

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

async function startRecordingRelay(target: string) {
  const { hostname, port } = new URL(target)
  const requests: { method: string; url: string; key: string }[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    requests.push({ method, url, key: String(headers['x-api-key'] ?? headers.authorization ?? '') })
    const asked = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      // Whoever leaves in the middle breaks it off.
      void pipeline(answer, outgoing).catch(() => outgoing.destroy())
    })
    asked.on('error', () => outgoing.destroy())
    incoming.pipe(asked)
  })
  return {
    origin: `http://127.0.0.1:${await listen(server)}`,
    requests,
    close: () => closeAll(server),
  }
}

/** Has a program do its work by `foldgate run`, in a home of its own, and tells what it left there. */
async function launch(
  { dialect, command, args, files, env }: Launched,
  foldgate: (origin: string) => { readonly flags: readonly string[]; readonly env?: Record<string, string> },
) {
  const folder = await mkdtemp(join(tmpdir(), 'launched-'))
  const home = join(folder, 'home')
  const work = join(folder, 'work')
  await mkdir(work)
  await writeFile(join(work, 'one.txt'), 'The one line of the file.\n')
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), text)
  }
  const model = await startReadingModel(dialect, {
    windowTokens: 200_000,
    folder: work,
    files: ['one.txt'],
    lastWords: LAST_WORDS,
  })
  const relay = await startRecordingRelay(model.url)
  const own = foldgate(relay.origin)
  const store = `sqlite:${join(folder, 'store.sqlite')}`
  try {
    const ended = await runProgram({
      command: process.execPath,
      args: [main, 'run', '--admin-port', '0', ...own.flags, '--', ...command, ...args],
      cwd: work,
      env: { ...environment(home), FOLDGATE_STORE: store, ...env, ...own.env },
    })
    const after = await Promise.all(
      Object.keys(files).map(async (name) => [name, await readFile(join(home, name), 'utf8')] as const),
    )
    const left = await readdir(home, { recursive: true })
    return {
      ...ended,
      files: Object.fromEntries(after),
      ours: left.filter((name) => name.includes('foldgate') && !name.startsWith('.local/state/foldgate')),
      asked: relay.requests.filter(({ method }) => method === 'POST'),
    }
  } finally {
    await relay.close()
    await model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const flags = (origin: string) => ['--upstream', `${origin}/v1`, '--model', 'm']

// Neither has a variable of its own for Foldgate: `OLLAMA_HOST` is what programs of the SDK read, LangChain reads another.
test.for([
  [
    'the SDK of Ollama',
    'ollama',
    'new m.Ollama({ host: process.env.OLLAMA_HOST }).chat({ ...asked, messages })',
  ],
  ['ChatOllama', '@langchain/ollama', "new m.ChatOllama({ model: 'm', numCtx: 4096 }).invoke(messages)"],
] as const)(
  '%s, started by foldgate run, asks the server that is named through it',
  async ([, name, ask]) => {
    await using at = await ollamaStand('alone')
    const messages = [{ role: 'user', content: 'hi' }]
    const code = `const m = await import('${name}'); const messages = ${JSON.stringify(messages)}
    const asked = { model: 'm', options: { num_ctx: 4096 } }; console.log(JSON.stringify(await ${ask}))`
    const led = ['--admin-port', '0', '--store', 'memory:', '--upstream', at.url]
    const { exitCode, output } = await runProgram({
      command: process.execPath,
      args: [main, 'run', ...led, '--', process.execPath, '--input-type=module', '-e', code],
      cwd: inPackages('..'),
      env: environment(tmpdir()),
    })
    expect([exitCode, output]).toEqual([0, expect.stringContaining('foldgate: 1 request')])
    expect(at.upstream.requests.map(({ path }) => path)).toEqual(['/api/chat'])
  },
)

describe.for(programs)('$name, started by foldgate run', (program) => {
  const impossible = whyItDoesNotRun(program.command[0] ?? '', ...program.command.slice(1))

  test(
    'works with the server that is named, whatever its own settings say, and they stay as they were',
    { timeout: RUN_MS },
    async ({ skip }) => {
      skip(impossible !== null, impossible ?? '')
      const ran = await launch(program, (origin) => ({ flags: flags(origin) }))
      expect([ran.exitCode, ran.output]).toEqual([0, expect.stringContaining(LAST_WORDS)])
      expect(ran.output).toMatch(/foldgate: \d+ requests, sent as they came/)
      expect(new Set(ran.asked.map(({ url }) => url))).toEqual(new Set([program.path]))
      expect(JSON.stringify(ran.asked)).not.toContain('PLANTED')
      expect(ran.files).toEqual(program.files)
      expect(ran.ours).toEqual([])
    },
  )

  const { ownWay } = program
  test.runIf(ownWay !== undefined)(
    'goes where its environment had it go, with its own key',
    { timeout: RUN_MS },
    async ({ skip }) => {
      skip(impossible !== null, impossible ?? '')
      // Its files, where they name no server that goes before its environment.
      const files = program.name === 'Codex' ? program.files : {}
      const ran = await launch({ ...program, files }, (origin) => ({
        flags: [],
        env: ownWay?.(origin) ?? {},
      }))
      expect([ran.exitCode, ran.output]).toEqual([0, expect.stringContaining(LAST_WORDS)])
      expect(new Set(ran.asked.map(({ url }) => url))).toEqual(new Set([program.path]))
      for (const { key } of ran.asked) expect(key).toContain(KEY)
    },
  )
})
