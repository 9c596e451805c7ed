import { environment, inPackages, whyItDoesNotRun } from './installed-program.ts'
import type { ReadingAgent } from './reading-agent.ts'

/**
 * Claude Code, for a model of Anthropic's, whose window it takes for a million tokens, or for one that it has never heard of:
 * the same. It asks for more output than half of these windows: what is kept free for it is that half.
 */
export function claudeCode({ model, ...described }: ClaudeCode): ReadingAgent {
  const { windowTokens } = described
  return {
    // The program itself; the package that people install chooses one of these by their processor.
    packageName: '@anthropic-ai/claude-code-linux-x64',
    ...described,
    dialect: 'messages',
    rounds: 45,
    outputTokens: windowTokens / 2,
    impossible: () => whyItDoesNotRun(claude),
    requestsAside: 0,
    atTheWindow: 'summarises',
    prepare: async ({ home, folder, baseUrl, task }) => ({
      command: claude,
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

// --- internal ---

type ClaudeCode = Pick<ReadingAgent, 'name' | 'windowTokens' | 'front'> & {
  readonly model: string
  /** Default: its own. */
  readonly packageName?: string
}

const claude = inPackages('@anthropic-ai/claude-code-linux-x64/claude')
