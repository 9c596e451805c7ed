import { join } from 'node:path'
import type { Environment } from '../../../config/api-keys.ts'
import {
  ENDLESS_TOKENS,
  endlessReason,
  hasOption,
  isSet,
  keyIfNone,
  LaunchError,
  messagesUrl,
  openAiUrl,
  placeholderReason,
  replyTokensMax,
  replyVariable,
  servedModel,
  USUAL_REPLY_TOKENS,
  type KnownProgram,
  type LaunchPlace,
  type ProgramNames,
  type Way,
} from '../known-program.ts'

/** A program that nothing is known of: the variables that SDKs read. */
export const anyProgram = byVariables({
  name: 'any program',
  commands: [],
  packages: [],
  variables: (way, env) => ({
    OPENAI_BASE_URL: openAiUrl(way),
    OPENAI_API_BASE: openAiUrl(way),
    ANTHROPIC_BASE_URL: messagesUrl(way),
    // At a vendor's server nobody answers them: without a server that is named, they stay with their own.
    ...(way.isOneServer && { OLLAMA_HOST: way.origin, OLLAMA_BASE_URL: way.origin }),
    ...keyIfNone('OPENAI_API_KEY', way, env),
    ...(way.model !== null && { OPENAI_MODEL: way.model }),
  }),
})

/** Programs that are led by variables, and by arguments at most. */
export const ledByVariables: readonly KnownProgram[] = [
  // Signed in otherwise, or not yet, it reads none of these variables until it is told to.
  byVariables({
    name: 'Qwen Code',
    commands: ['qwen'],
    packages: ['@qwen-code/qwen-code'],
    variables: (way, env) => ({
      OPENAI_BASE_URL: openAiUrl(way),
      ...keyIfNone('OPENAI_API_KEY', way, env),
      ...(way.model !== null && { OPENAI_MODEL: way.model }),
    }),
    args: (way, { env, args }) => [
      ...((way.isOneServer || isSet(env, 'OPENAI_API_KEY')) && !hasOption(args, '--auth-type')
        ? ['--auth-type', 'openai']
        : []),
      // Else the model of its settings brings its own address along.
      ...(way.model !== null && !hasOption(args, '--model') ? ['--model', way.model] : []),
    ],
  }),
  // Its own variables go before its settings files, which may name another server.
  byVariables({
    name: 'aider',
    commands: ['aider'],
    packages: ['aider-chat', 'aider-install'],
    variables: (way, env) => ({
      OPENAI_API_BASE: openAiUrl(way),
      AIDER_OPENAI_API_BASE: openAiUrl(way),
      ANTHROPIC_API_BASE: messagesUrl(way),
      ...keyIfNone('OPENAI_API_KEY', way, env),
      // The provider is a part of the name: whatever else it is called, it is asked by the OpenAI APIs.
      ...(way.model !== null && { AIDER_MODEL: `openai/${way.model.replace(/^openai\//, '')}` }),
    }),
  }),
  byVariables({
    name: 'goose',
    commands: ['goose'],
    packages: [],
    asksWindow: true,
    variables: (way, env) => ({
      OPENAI_HOST: way.origin,
      ANTHROPIC_HOST: messagesUrl(way),
      ...keyIfNone('OPENAI_API_KEY', way, env),
      ...(way.isOneServer && { GOOSE_PROVIDER: 'openai', GOOSE_CONTEXT_LIMIT: `${ENDLESS_TOKENS}` }),
      ...(way.model !== null && { GOOSE_MODEL: way.model }),
      ...replyVariable('GOOSE_MAX_TOKENS', way, env),
    }),
  }),
  // Its model stands in its own settings.
  byVariables({
    name: 'Crush',
    commands: ['crush'],
    packages: ['@charmland/crush'],
    variables: (way, env) => ({
      OPENAI_API_ENDPOINT: openAiUrl(way),
      ANTHROPIC_API_ENDPOINT: messagesUrl(way),
      ...keyIfNone('OPENAI_API_KEY', way, env),
    }),
  }),
  byVariables({
    name: 'GitHub Copilot CLI',
    commands: ['copilot'],
    packages: ['@github/copilot', '@github/copilot-linux-x64'],
    asksWindow: true,
    variables: (way, env) => {
      const { model, key } = servedModel('GitHub Copilot CLI', way, env)
      return {
        COPILOT_PROVIDER_BASE_URL: openAiUrl(way),
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_API_KEY: key,
        COPILOT_MODEL: model,
        COPILOT_PROVIDER_MAX_PROMPT_TOKENS: `${ENDLESS_TOKENS}`,
        ...replyVariable('COPILOT_PROVIDER_MAX_OUTPUT_TOKENS', way, env),
      }
    },
  }),
  byVariables({
    name: 'Gemini CLI',
    commands: ['gemini'],
    packages: ['@google/gemini-cli'],
    variables: () => {
      throw new LaunchError(
        "Gemini CLI speaks Gemini's own API alone, which Foldgate passes on as it comes and does not compact: start it without foldgate run (Qwen Code, which is made of it, speaks the OpenAI API)",
      )
    },
  }),
]

/** Programs that read their servers from files alone, and can be told of a further one. */
export const ledByFiles: readonly KnownProgram[] = [
  {
    name: 'pi',
    commands: ['pi'],
    packages: ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'],
    asksWindow: true,
    additions: async (way, { env, folder }) => {
      const path = join(folder, 'foldgate.mjs')
      const baseUrl = openAiUrl(way)
      let model = way.model
      let providers: object = { openai: { baseUrl }, anthropic: { baseUrl: messagesUrl(way) } }
      if (way.isOneServer && model !== null) {
        const { key: apiKey } = servedModel('pi', way, env)
        const maxTokens = replyTokensMax(way) ?? USUAL_REPLY_TOKENS
        const models = [{ ...plainModel, id: model, name: model, maxTokens }]
        providers = { foldgate: { baseUrl, apiKey, api: 'openai-completions', models } }
        model = `foldgate/${model}`
      }
      const calls = Object.entries(providers).map(
        ([name, is]) => `pi.registerProvider(${JSON.stringify(name)}, ${JSON.stringify(is)})`,
      )
      const args = ['--extension', path, ...(model === null ? [] : ['--model', model])]
      return { args, files: { [path]: `export default (pi) => { ${calls.join('; ')} }\n` } }
    },
  },
  {
    name: 'droid',
    commands: ['droid'],
    packages: ['droid', '@factory/cli', '@factory/cli-linux-x64'],
    asksWindow: true,
    additions: async (way, { env, folder }) => {
      const { model, key: apiKey } = servedModel('droid', way, env)
      const path = join(folder, 'settings.json')
      const id = 'custom:foldgate'
      const provider = 'generic-chat-completion-api'
      const own = { id, displayName: model, model, baseUrl: openAiUrl(way), apiKey, provider }
      const settings = {
        customModels: [{ ...own, maxOutputTokens: replyTokensMax(way) ?? USUAL_REPLY_TOKENS }],
        sessionDefaultSettings: { model: id },
      }
      return { env: { FACTORY_RUNTIME_SETTINGS_PATH: path }, files: { [path]: JSON.stringify(settings) } }
    },
  },
  {
    name: 'Cline',
    commands: ['cline'],
    packages: ['cline', '@cline/cli-linux-x64'],
    additions: async (way, place) => {
      const { model, key: apiKey } = servedModel('Cline', way, place.env)
      const path = join(place.folder, 'providers.json')
      const provider = 'openai-compatible'
      const settings = { provider, apiKey, model, baseUrl: openAiUrl(way) }
      const entry = { settings, updatedAt: new Date(0).toISOString(), tokenSource: 'manual' }
      const file = { version: 1, lastUsedProvider: provider, modes: {}, providers: { [provider]: entry } }
      const args = ['--provider', provider, '--model', model]
      // Else a process of an earlier start does its work, and asks where that one was led.
      const env = { CLINE_PROVIDER_SETTINGS_PATH: path, CLINE_SESSION_BACKEND_MODE: 'local' }
      return { env, args, files: { [path]: JSON.stringify(file) } }
    },
  },
]

// --- internal ---

/** What pi wants to know of a model. */
const plainModel = {
  reasoning: false,
  input: ['text'],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: ENDLESS_TOKENS,
}

type Led = ProgramNames &
  Pick<KnownProgram, 'asksWindow'> & {
    readonly variables: (way: Way, env: Environment) => Readonly<Record<string, string>>
    /** Default: none. */
    readonly args?: (way: Way, place: LaunchPlace) => readonly string[]
  }

function byVariables({ variables: variablesFor, args = () => [], ...known }: Led): KnownProgram {
  return {
    ...known,
    additions: async (way, place) => ({
      env: variablesFor(way, place.env),
      args: args(way, place),
      reasons,
    }),
  }
}

const reasons = {
  AIDER_OPENAI_API_BASE: "goes before aider's settings files, which the variable above does not",
  OPENAI_API_KEY: placeholderReason,
  AIDER_MODEL: 'openai/ names the API for aider, and is no part of what the server is asked for',
  GOOSE_CONTEXT_LIMIT: endlessReason,
  COPILOT_PROVIDER_MAX_PROMPT_TOKENS: endlessReason,
}
