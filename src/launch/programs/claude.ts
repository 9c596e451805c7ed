import type { Environment } from '../../config/keys.ts'
import { messagesUrl, placeholderKey, variables, type KnownProgram, type Way } from '../known-program.ts'

/** Claude Code, whose names for this are to be found in the program itself (2.1.332). */
export const claude: KnownProgram = {
  name: 'Claude Code',
  commands: ['claude'],
  packages: ['@anthropic-ai/claude-code', '@anthropic-ai/claude-code-linux-x64'],
  additions: async (way, { env }) =>
    variables({
      ANTHROPIC_BASE_URL: messagesUrl(way),
      ...(way.isAnthropic ? forAnthropic(env) : forOthers(way, env)),
      ...modelVariables(way.model),
    }),
}

// --- internal ---

/** It searches for tools instead of sending all of them only where it knows the server, unless it is told. */
function forAnthropic(env: Environment): Record<string, string> {
  return (env['ENABLE_TOOL_SEARCH'] ?? '') === '' ? { ENABLE_TOOL_SEARCH: 'true' } : {}
}

function forOthers({ isOneServer }: Way, env: Environment): Record<string, string> {
  const hasKey = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].some((name) => (env[name] ?? '') !== '')
  const elsewhere = otherClouds.filter((name) => isOneServer && (env[name] ?? '') !== '')
  return {
    // A line that differs with each request: behind it nothing would be read from the server's cache.
    CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
    // Of a model that it does not know it would believe this anyway, and say so at each start. It counts what it is told was
    // sent: its own compaction stays far away, and what fits is seen to here.
    ...((env['CLAUDE_CODE_MAX_CONTEXT_TOKENS'] ?? '') === '' && {
      CLAUDE_CODE_MAX_CONTEXT_TOKENS: '1000000',
    }),
    // Else it would send its stored login to this server, or want one.
    ...(!hasKey && { ANTHROPIC_AUTH_TOKEN: placeholderKey }),
    ...Object.fromEntries(elsewhere.map((name) => [name, '0'])),
  }
}

/** Each sends its requests to a cloud of its own, whatever the base URL is. */
const otherClouds = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

/** It asks different models for different work: a server with one model has to be asked for that. */
function modelVariables(model: string | null): Record<string, string> {
  if (model === null) return {}
  const names = [
    'ANTHROPIC_MODEL',
    'ANTHROPIC_SMALL_FAST_MODEL',
    'ANTHROPIC_DEFAULT_FABLE_MODEL',
    'ANTHROPIC_DEFAULT_OPUS_MODEL',
    'ANTHROPIC_DEFAULT_SONNET_MODEL',
    'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  ]
  return Object.fromEntries(names.map((name) => [name, model]))
}
