import {
  keyIfNone,
  messagesUrl,
  openAiUrl,
  placeholderReason,
  variables,
  type KnownProgram,
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
