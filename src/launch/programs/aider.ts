import {
  keyIfNone,
  messagesUrl,
  openAiUrl,
  placeholderReason,
  variables,
  type KnownProgram,
} from '../known-program.ts'

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

// --- internal ---

const reasons = {
  AIDER_OPENAI_API_BASE: "goes before aider's settings files, which the variable above does not",
  OPENAI_API_KEY: placeholderReason,
  AIDER_MODEL: 'openai/ names the API for aider, and is no part of what the server is asked for',
}
