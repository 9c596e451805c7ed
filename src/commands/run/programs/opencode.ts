import { isJsonObject, parseJsonText } from '../../../json/json-value.ts'
import { mergeDeep } from '../../../profiles/resolve.ts'
import {
  isSet,
  LaunchError,
  messagesUrl,
  openAiUrl,
  placeholderKey,
  replyTokensMax,
  type KnownProgram,
  type ProgramNames,
  type Way,
} from '../known-program.ts'

/** opencode, and what is made of it: they take settings from their environment that go before those in files. */
export const ledBySettings: readonly KnownProgram[] = [
  likeOpencode('OPENCODE_CONFIG_CONTENT', {
    name: 'opencode',
    commands: ['opencode'],
    packages: ['opencode-ai', 'opencode-linux-x64', 'opencode-linux-x64-baseline'],
  }),
  likeOpencode('KILO_CONFIG_CONTENT', {
    name: 'Kilo',
    commands: ['kilo', 'kilocode'],
    packages: ['@kilocode/cli', '@kilocode/cli-linux-x64', '@kilocode/cli-linux-x64-baseline'],
  }),
]

// --- internal ---

function likeOpencode(variable: string, known: ProgramNames): KnownProgram {
  return {
    ...known,
    asksWindow: true,
    additions: async (way, { env }) => {
      const given = env[variable] ?? ''
      const users = given.trim() === '' ? {} : parseJsonText(given)
      if (!isJsonObject(users)) throw new LaunchError(`${variable} is no JSON object: mend it, or unset it`)
      const key = isSet(env, 'OPENAI_API_KEY') ? '{env:OPENAI_API_KEY}' : placeholderKey
      const ours = settingsFor(way, key)
      return {
        env: { [variable]: JSON.stringify(mergeDeep(users, ours)) },
        shown: { [variable]: JSON.stringify(ours) },
        reasons:
          Object.keys(users).length > 0 ? { [variable]: 'laid over your own, which is not shown' } : {},
      }
    },
    // The provider for that server is made with the model: without one there is none.
    lacksModel: ({ isOneServer, model }, { env, args }) =>
      isOneServer &&
      model === null &&
      !args.some((word) => modelOption.test(word)) &&
      !namesModel(env[variable]),
  }
}

const modelOption = /^(?:--model(?:=|$)|-m)/

function namesModel(settings = ''): boolean {
  const users = parseJsonText(settings)
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
