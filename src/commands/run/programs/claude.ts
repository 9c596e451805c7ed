import { join } from 'node:path'
import type { Environment } from '../../../config/api-keys.ts'
import { isJsonObject, parseJsonText } from '../../../json/json-value.ts'
import {
  ENDLESS_TOKENS,
  endlessReason,
  hasOption,
  isSet,
  LaunchError,
  messagesUrl,
  placeholderKey,
  placeholderReason,
  replyVariable,
  type KnownProgram,
  type LaunchPlace,
  type Way,
} from '../known-program.ts'

/** Claude Code, whose names for this are to be found in the program itself (2.1.332). */
export const claude: KnownProgram = {
  name: 'Claude Code',
  commands: ['claude'],
  packages: ['@anthropic-ai/claude-code', '@anthropic-ai/claude-code-linux-x64'],
  asksWindow: true,
  ownVariables: settingsVariables,
  additions: async (way, place) => {
    if (!way.isOneServer && way.messagesPath === '') {
      throw new LaunchError(
        'the Foldgate that runs forwards to a server of OpenAI, and has no upstream named anthropic: leave --attach out',
      )
    }
    const own = await settingsVariables(place)
    const env = {
      ANTHROPIC_BASE_URL: messagesUrl(way),
      ...(!way.isAnthropic && forOthers(way, place.env, own)),
      // It searches for tools instead of sending all of them only where it knows the server, unless it is told.
      ...(way.isAnthropic && !isSet(place.env, 'ENABLE_TOOL_SEARCH') && { ENABLE_TOOL_SEARCH: 'true' }),
      ...modelVariables(way.model),
      ...replyVariable(replyName, way, { ...place.env, ...own }),
    }
    const overridden = Object.entries(env).filter(([name]) => own[name] !== undefined)
    const settings = { env: { ...Object.fromEntries(overridden), ...keysLeftOut(way, place.env, own) } }
    const isNeeded = Object.keys(settings.env).length > 0 && !hasOption(place.args, '--settings')
    return { env, args: isNeeded ? ['--settings', JSON.stringify(settings)] : [], reasons }
  },
}

// --- internal ---

const windowName = 'CLAUDE_CODE_MAX_CONTEXT_TOKENS'
const replyName = 'CLAUDE_CODE_MAX_OUTPUT_TOKENS'

/** Each sends its requests to a cloud of its own, whatever the base URL is. */
const otherClouds = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

const reasons = {
  ENABLE_TOOL_SEARCH: 'Claude Code turns it off for a base URL that it does not know',
  CLAUDE_CODE_ATTRIBUTION_HEADER:
    "else a line that changes with each request spoils the server's prompt cache",
  [windowName]: endlessReason,
  ANTHROPIC_AUTH_TOKEN: placeholderReason,
  [replyName]: 'a quarter of the window: else much more of it would be kept free for a reply',
  ANTHROPIC_SMALL_FAST_MODEL: 'Claude Code asks further models for other work: they are all this one',
  ...Object.fromEntries(
    otherClouds.map((name) => [name, 'else requests go to that cloud, past the base URL']),
  ),
}

const keyNames = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN']

/** The `env` of its settings files, which goes before the environment: the nearest file last. */
async function settingsVariables({ env, cwd, readText }: LaunchPlace): Promise<Environment> {
  const folder = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? '', '.claude')
  const project = join(cwd, '.claude')
  const found: Record<string, string> = {}
  for (const path of [
    join(folder, 'settings.json'),
    join(project, 'settings.json'),
    join(project, 'settings.local.json'),
  ]) {
    const settings = parseJsonText((await readText(path)) ?? '')
    const variables = isJsonObject(settings) ? settings['env'] : null
    for (const [name, value] of Object.entries(isJsonObject(variables) ? variables : {}))
      if (typeof value === 'string') found[name] = value
  }
  return found
}

function forOthers({ isOneServer }: Way, env: Environment, own: Environment): Record<string, string> {
  // Those in its settings are for the server that stands there, which a server of the command line is not.
  const hasKey = keyNames.some((name) => isSet(env, name) || (!isOneServer && isSet(own, name)))
  const elsewhere = otherClouds.filter((name) => isOneServer && (isSet(env, name) || isSet(own, name)))
  return {
    // A line that differs with each request: behind it nothing would be read from the server's cache.
    CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
    // Of a model that it does not know it would believe this anyway, and warn of it. It counts what it is told was sent: its
    // own compaction stays far away, and what fits is seen to here.
    ...(!isSet(env, windowName) && !isSet(own, windowName) && { [windowName]: `${ENDLESS_TOKENS}` }),
    // Else it would send its stored login to this server, or want one.
    ...(!hasKey && { ANTHROPIC_AUTH_TOKEN: placeholderKey }),
    ...Object.fromEntries(elsewhere.map((name) => [name, '0'])),
  }
}

/** Keys in its settings that a server of the command line must not get. */
function keysLeftOut({ isOneServer }: Way, env: Environment, own: Environment): Record<string, string> {
  const leftOut = keyNames.filter((name) => isOneServer && isSet(own, name) && !isSet(env, name))
  return Object.fromEntries(
    leftOut.map((name) => [name, name === 'ANTHROPIC_AUTH_TOKEN' ? placeholderKey : '']),
  )
}

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
