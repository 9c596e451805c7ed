import {
  hasOption,
  isSet,
  keyIfNone,
  type KnownProgram,
  messagesUrl,
  openAiUrl,
  placeholderReason,
  variables,
} from '../known-program.ts'

/** A program that nothing is known of: the variables that SDKs read. */
export const anyProgram: KnownProgram = {
  name: 'any program',
  commands: [],
  packages: [],
  additions: async (way, { env }) =>
    variables(
      {
        OPENAI_BASE_URL: openAiUrl(way),
        OPENAI_API_BASE: openAiUrl(way),
        ANTHROPIC_BASE_URL: messagesUrl(way),
        ...keyIfNone('OPENAI_API_KEY', way, env),
        ...(way.model !== null && { OPENAI_MODEL: way.model }),
      },
      { reasons: { OPENAI_API_KEY: placeholderReason } },
    ),
}

/** aider. Its own variables go before its settings files, which may name another server. */
export const aider: KnownProgram = {
  name: 'aider',
  commands: ['aider'],
  packages: ['aider-chat', 'aider-install'],
  additions: async (way, { env }) =>
    variables(
      {
        OPENAI_API_BASE: openAiUrl(way),
        AIDER_OPENAI_API_BASE: openAiUrl(way),
        ANTHROPIC_API_BASE: messagesUrl(way),
        ...keyIfNone('OPENAI_API_KEY', way, env),
        // The provider is a part of the name: whatever else it is called, it is asked by the OpenAI APIs.
        ...(way.model !== null && { AIDER_MODEL: `openai/${way.model.replace(/^openai\//, '')}` }),
      },
      { reasons },
    ),
}

/** Qwen Code. Signed in otherwise, or not yet, it reads none of these variables until it is told to. */
export const qwen: KnownProgram = {
  name: 'Qwen Code',
  commands: ['qwen'],
  packages: ['@qwen-code/qwen-code'],
  additions: async (way, { env, args }) => {
    const isMeant = way.isOneServer || isSet(env, 'OPENAI_API_KEY')
    return variables(
      {
        OPENAI_BASE_URL: openAiUrl(way),
        ...keyIfNone('OPENAI_API_KEY', way, env),
        ...(way.model !== null && { OPENAI_MODEL: way.model }),
      },
      {
        args: [
          ...(isMeant && !hasOption(args, '--auth-type') ? ['--auth-type', 'openai'] : []),
          // Else the model of its settings brings its own address along.
          ...(way.model !== null && !hasOption(args, '--model') ? ['--model', way.model] : []),
        ],
        reasons: { OPENAI_API_KEY: placeholderReason },
      },
    )
  },
}

// --- internal ---

const reasons = {
  AIDER_OPENAI_API_BASE: "goes before aider's settings files, which the variable above does not",
  OPENAI_API_KEY: placeholderReason,
  AIDER_MODEL: 'openai/ names the API for aider, and is no part of what the server is asked for',
}
