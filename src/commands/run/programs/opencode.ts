import type { Environment } from '../../../config/api-keys.ts'
import { isJsonObject, parseJsonText } from '../../../json/json-value.ts'
import {
  isSet,
  LaunchError,
  messagesUrl,
  openAiUrl,
  placeholderKey,
  replyTokensMax,
  type KnownProgram,
  type Way,
} from '../known-program.ts'

/** opencode, which takes settings from its environment that go before those in files. */
export const opencode: KnownProgram = {
  name: 'opencode',
  commands: ['opencode'],
  packages: ['opencode-ai', 'opencode-linux-x64', 'opencode-linux-x64-baseline'],
  additions: async (way, { env }) => {
    const given = env[variable] ?? ''
    const users = given.trim() === '' ? {} : parseJsonText(given)
    if (!isJsonObject(users)) throw new LaunchError(`${variable} is no JSON object: mend it, or unset it`)
    const key = isSet(env, 'OPENAI_API_KEY') ? '{env:OPENAI_API_KEY}' : placeholderKey
    const ours = settingsFor(way, key)
    const isLaidOver = Object.keys(users).length > 0
    return {
      env: { [variable]: JSON.stringify(merged(users, ours)) },
      args: [],
      shown: { [variable]: JSON.stringify(ours) },
      reasons: isLaidOver ? { [variable]: 'laid over your own, which is not shown' } : {},
    }
  },
  // The provider for that server is made with the model: without one there is none.
  lacksModel: ({ isOneServer, model }, { env, args }) =>
    isOneServer && model === null && !args.some((word) => modelOption.test(word)) && !namesModel(env),
}

// --- internal ---

const variable = 'OPENCODE_CONFIG_CONTENT'

const modelOption = /^(?:--model(?:=|$)|-m)/

function namesModel(env: Environment): boolean {
  const users = parseJsonText(env[variable] ?? '')
  return isJsonObject(users) && typeof users['model'] === 'string'
}

function settingsFor(way: Way, apiKey: string): Record<string, unknown> {
  const provider = {
    openai: { options: { baseURL: openAiUrl(way) } },
    anthropic: { options: { baseURL: `${messagesUrl(way)}/v1` } },
  }
  if (!way.isOneServer || way.model === null) {
    return { provider, ...(way.model !== null && { model: way.model }) }
  }
  const model = `foldgate/${way.model}`
  const replyTokens = replyTokensMax(way)
  // A window of 0 is none: what fits is seen to here.
  const limit = replyTokens === null ? {} : { limit: { context: 0, output: replyTokens } }
  const foldgate = {
    name: 'Foldgate',
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: openAiUrl(way), apiKey },
    models: { [way.model]: { name: way.model, ...limit } },
  }
  return { provider: { ...provider, foldgate }, model, small_model: model }
}

/** Objects are joined member by member; of anything else the second holds. */
function merged(one: Record<string, unknown>, other: Record<string, unknown>): Record<string, unknown> {
  const sum = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const before = sum[name]
    sum[name] = isJsonObject(before) && isJsonObject(value) ? merged(before, value) : value
  }
  return sum
}
