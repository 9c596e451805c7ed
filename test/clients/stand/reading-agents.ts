import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { environment, inPackages, whyItDoesNotRun, type Program } from './installed-program.ts'
import type { Dialect } from './reading-models.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'

export type ReadingAgent = {
  readonly name: string
  readonly packageName: string
  readonly dialect: Dialect
  readonly windowTokens: number
  readonly rounds: number
  /** So many of the files that it read first it reads again in the end; none where it is left out. */
  readonly again?: number
  /** Tokens that are kept free for what the model writes. */
  readonly outputTokens: number
  readonly impossible: () => string | null
  /** Requests that it makes beside those of its loop while nothing is refused: the model is offered no tool in them. */
  readonly requestsAside: number
  /**
   * What it does at a server's window: gives its work up with these words, has the model shorten what was refused, or has
   * it shortened before anything is refused.
   */
  readonly atTheWindow: { readonly givesUpWith: string } | 'summarises' | 'summarises ahead'
  readonly prepare: (at: Workplace) => Promise<Program>
  readonly front?: Front
}

/** Starts a program that passes requests on to this base URL, and says where it is itself. */
export type Front = (at: {
  readonly home: string
  readonly baseUrl: string
}) => Promise<{ readonly url: string; readonly close: () => Promise<void> }>

export type Workplace = {
  readonly home: string
  readonly folder: string
  readonly baseUrl: string
  readonly task: string
}

/**
 * Claude Code, for a model of Anthropic's, whose window it takes for a million tokens, or for one that it has never heard of:
 * the same. It asks for more output than half of these windows: what is kept free for it is that half.
 */
export function claudeCode({ model, program = claude, ...described }: ClaudeCode): ReadingAgent {
  const { windowTokens } = described
  return {
    // The program itself; the package that people install chooses one of these by their processor.
    packageName: '@anthropic-ai/claude-code-linux-x64',
    ...described,
    dialect: 'messages',
    rounds: 45,
    outputTokens: windowTokens / 2,
    impossible: () => whyItDoesNotRun(program),
    requestsAside: 0,
    atTheWindow: 'summarises',
    prepare: async ({ home, folder, baseUrl, task }) => ({
      command: program,
      args: ['--print', task, '--model', model],
      cwd: folder,
      env: {
        ...environment(home),
        ANTHROPIC_BASE_URL: baseUrl.replace(/\/v1$/, ''),
        ANTHROPIC_API_KEY: 'key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }),
  }
}

type ClaudeCode = Pick<ReadingAgent, 'name' | 'windowTokens' | 'front'> & {
  readonly model: string
  readonly program?: string
  readonly packageName?: string
}

const claude = inPackages('@anthropic-ai/claude-code-linux-x64/claude')

/** A router that people set between Claude Code and their servers: here it knows of one, which speaks the Messages API. */
const claudeCodeRouter: Front = async ({ home, baseUrl }) => {
  const port = await freePort()
  const settings = join(home, '.claude-code-router')
  await mkdir(settings)
  await writeFile(join(settings, 'config.json'), JSON.stringify(configuration(port, baseUrl)))
  const router = spawn(process.execPath, [routerProgram, 'start'], {
    env: environment(home),
    cwd: home,
    stdio: 'ignore',
  })
  const ended = once(router, 'close')
  const url = `http://127.0.0.1:${port}`
  await untilItAnswers(url)
  return {
    url,
    close: async () => {
      router.kill()
      await ended
    },
  }
}

const routerProgram = inPackages('@musistudio/claude-code-router/dist/cli.js')
const POLL_MS = 100
const POLLS_MAX = 300

const configuration = (port: number, baseUrl: string): object => ({
  LOG: false,
  HOST: '127.0.0.1',
  PORT: port,
  NON_INTERACTIVE_MODE: true,
  Providers: [
    {
      name: 'local',
      api_base_url: `${baseUrl}/messages`,
      api_key: 'key',
      models: ['m'],
      transformer: { use: ['Anthropic'] },
    },
  ],
  Router: { default: 'local,m' },
})

async function untilItAnswers(url: string): Promise<void> {
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return
    await pause(POLL_MS)
  }
  throw new Error(`Nothing answers at ${url}.`)
}

const OUTPUT_TOKENS = 8_000
const ENDLESS_TOKENS = 1_000_000
const WINDOW_TOKENS = 30_000
const usual = { windowTokens: WINDOW_TOKENS, rounds: 40, outputTokens: OUTPUT_TOKENS, requestsAside: 0 }
const NO_ROOM_FOR_CODEX = "ran out of room in the model's context window"

/**
 * All take the window for endless, as their user would tell them in front of Foldgate, and so never compact by
 * themselves ahead of need, unless it is said. What would look for an update or tell of their use is off: none takes more
 * than the server.
 */
export const readingAgents: readonly ReadingAgent[] = [
  {
    name: 'opencode, a coding agent',
    // The program itself; the package that people install chooses one of these by their processor.
    packageName: 'opencode-linux-x64-baseline',
    dialect: 'chat completions',
    ...usual,
    impossible: () => whyItDoesNotRun(opencode),
    // A title for the conversation.
    requestsAside: 1,
    atTheWindow: { givesUpWith: 'maximum context length' },
    prepare: async ({ home, folder, baseUrl, task }) => ({
      command: opencode,
      args: ['run', '--model', 'local/m', task],
      cwd: folder,
      env: {
        ...environment(home),
        OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeSettings(baseUrl)),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        // It installs what plugins would need, though there are none.
        npm_config_offline: 'true',
      },
    }),
  },
  qwenAgent('Qwen Code, a coding agent', 'chat completions'),
  qwenAgent('Qwen Code, Responses API', 'responses'),
  codexAgent({
    name: 'Codex CLI, a coding agent',
    atTheWindow: { givesUpWith: NO_ROOM_FOR_CODEX },
    settings: (baseUrl) => [...ownCompaction(ENDLESS_TOKENS), ...codexProvider(baseUrl)],
  }),
  // What it is told of a prompt is what Foldgate has sent. Kept so far below the window, that is nothing for it to compact.
  codexAgent({
    name: 'Codex CLI, its own compaction on',
    outputTokens: 7_000,
    atTheWindow: 'summarises ahead',
    settings: (baseUrl) => [...ownCompaction(WINDOW_TOKENS), ...codexProvider(baseUrl)],
  }),
  // It asks for a WebSocket first, and knows of a window that the model does not have here.
  codexAgent({
    name: 'Codex CLI, its built-in provider',
    atTheWindow: { givesUpWith: NO_ROOM_FOR_CODEX },
    settings: (baseUrl) => [`openai_base_url = "${baseUrl}"`, ...codexHabits],
  }),
  claudeCode({ name: 'Claude Code, a window of 60,000', model: 'claude-opus-4-8', windowTokens: 60_000 }),
  claudeCode({ name: 'Claude Code, a window of 32,000', model: 'm', windowTokens: 32_000 }),
  claudeCode({
    name: 'Claude Code Router before Foldgate',
    packageName: '@musistudio/claude-code-router',
    model: 'm',
    windowTokens: 60_000,
    front: claudeCodeRouter,
  }),
]

/** Of a later version the maker decides, from afar, whether it refers back; this one always does. */
const rereadingClaude = {
  model: 'm',
  program: inPackages('claude-code-2-1-197/claude'),
}

/** Agents that believe a model has seen what they once sent, and answer a second read by a reference to the first. */
export const rereadingAgents: readonly ReadingAgent[] = [
  claudeCode({ ...rereadingClaude, name: 'Claude Code 2.1.197, a window of 60,000', windowTokens: 60_000 }),
  claudeCode({ ...rereadingClaude, name: 'Claude Code 2.1.197, a window of 32,000', windowTokens: 32_000 }),
  { ...qwenAgent('Qwen Code, a window of 60,000', 'chat completions'), windowTokens: 60_000 },
  { ...qwenAgent('Qwen Code, a window of 32,000', 'chat completions'), windowTokens: 32_000 },
  { ...qwenAgent('Qwen Code, Responses API', 'responses'), windowTokens: 32_000 },
].map((agent) => ({ ...agent, rounds: 30, again: 10 }))

const opencode = inPackages('opencode-linux-x64-baseline/bin/opencode')
const qwenCode = inPackages('@qwen-code/qwen-code/cli.js')
const codex = inPackages('@openai/codex/bin/codex.js')

function qwenAgent(name: string, dialect: Dialect): ReadingAgent {
  return {
    name,
    packageName: '@qwen-code/qwen-code',
    dialect,
    ...usual,
    impossible: () => null,
    atTheWindow: 'summarises',
    prepare: async ({ home, folder, baseUrl, task }) => {
      await mkdir(join(home, '.qwen'))
      await writeFile(join(home, '.qwen', 'settings.json'), JSON.stringify(qwenSettings))
      const api = dialect === 'responses' ? 'openai-responses' : 'openai'
      return {
        command: process.execPath,
        // All of its tools are offered to the model, which is scripted and only reads.
        args: [qwenCode, '--yolo', '--auth-type', api, '--prompt', task],
        cwd: folder,
        env: { ...environment(home), OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: 'key', OPENAI_MODEL: 'm' },
      }
    },
  }
}

function opencodeSettings(baseURL: string): object {
  const model = { name: 'm', tool_call: true, limit: { context: ENDLESS_TOKENS, output: OUTPUT_TOKENS } }
  return {
    autoupdate: false,
    share: 'disabled',
    compaction: { auto: false, prune: false },
    provider: {
      // This one is part of the program.
      local: { npm: '@ai-sdk/openai-compatible', options: { baseURL, apiKey: 'key' }, models: { m: model } },
    },
  }
}

const qwenSettings = {
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // The one that it brings is not executable as npm leaves it, and is not needed.
  tools: { useRipgrep: false },
  model: {
    generationConfig: {
      contextWindowSize: ENDLESS_TOKENS,
      samplingParams: { max_tokens: OUTPUT_TOKENS },
      maxRetries: 0,
    },
  },
}

type CodexAgent = Pick<ReadingAgent, 'name' | 'atTheWindow'> & {
  /** It asks for no number itself: what Foldgate keeps free then. Its default where none is given. */
  readonly outputTokens?: number
  /** The lines of its settings; tables come last. */
  readonly settings: (baseUrl: string) => readonly string[]
}

function codexAgent({ name, atTheWindow, settings, outputTokens = 4_096 }: CodexAgent): ReadingAgent {
  return {
    name,
    packageName: '@openai/codex',
    dialect: 'responses',
    ...usual,
    outputTokens,
    impossible: () => whyItDoesNotRun(process.execPath, codex),
    atTheWindow,
    prepare: async ({ home, folder, baseUrl, task }) => {
      await writeFile(join(home, 'config.toml'), `model = "gpt-5-codex"\n${settings(baseUrl).join('\n')}\n`)
      return {
        command: process.execPath,
        args: [codex, 'exec', '--skip-git-repo-check', task],
        cwd: folder,
        env: { ...environment(home), CODEX_HOME: home, CODEX_API_KEY: 'key' },
      }
    },
  }
}

/** It compacts by itself when nine tenths of this are used, by what it was told of the last request and its guess at what came since. */
function ownCompaction(windowTokens: number): readonly string[] {
  return [`model_context_window = ${windowTokens}`]
}

const codexHabits = [
  'approval_policy = "never"',
  'sandbox_mode = "danger-full-access"',
  'check_for_update_on_startup = false',
  '[features]',
  '# It would fetch them.',
  'plugins = false',
  '[analytics]',
  'enabled = false',
]

function codexProvider(baseUrl: string): readonly string[] {
  return [
    'model_provider = "local"',
    ...codexHabits,
    '[model_providers.local]',
    'name = "local"',
    `base_url = "${baseUrl}"`,
    'wire_api = "responses"',
    'env_key = "CODEX_API_KEY"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
  ]
}
