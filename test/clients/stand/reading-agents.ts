import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { claudeCodeRouter } from './claude-code-router.ts'
import { claudeCode } from './claude-code.ts'
import { environment, inPackages, whyItDoesNotRun } from './installed-program.ts'
import type { ReadingAgent } from './reading-agent.ts'
import type { Dialect } from './reading-models.ts'

/** Tokens that an agent asks for with every request, where it can be told to. */
const OUTPUT_TOKENS = 8_000

const ENDLESS_TOKENS = 1_000_000

const WINDOW_TOKENS = 30_000

const ROUNDS = 40

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
    windowTokens: WINDOW_TOKENS,
    rounds: ROUNDS,
    outputTokens: OUTPUT_TOKENS,
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

// --- internal ---

const opencode = inPackages('opencode-linux-x64-baseline/bin/opencode')
const qwenCode = inPackages('@qwen-code/qwen-code/cli.js')
const codex = inPackages('@openai/codex/bin/codex.js')

function qwenAgent(name: string, dialect: Dialect): ReadingAgent {
  return {
    name,
    packageName: '@qwen-code/qwen-code',
    dialect,
    windowTokens: WINDOW_TOKENS,
    rounds: ROUNDS,
    outputTokens: OUTPUT_TOKENS,
    impossible: () => null,
    requestsAside: 0,
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
        env: {
          ...environment(home),
          OPENAI_BASE_URL: baseUrl,
          OPENAI_API_KEY: 'key',
          OPENAI_MODEL: 'm',
        },
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
    windowTokens: WINDOW_TOKENS,
    rounds: ROUNDS,
    outputTokens,
    impossible: () => whyItDoesNotRun(process.execPath, codex),
    requestsAside: 0,
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
