import { keyIfNone, openAiUrl, variables, type KnownProgram } from '../known-program.ts'

/** Qwen Code, which reads these unless it is signed in otherwise. */
export const qwen: KnownProgram = {
  name: 'Qwen Code',
  commands: ['qwen'],
  packages: ['@qwen-code/qwen-code'],
  additions: async (way, { env }) =>
    variables({
      OPENAI_BASE_URL: openAiUrl(way),
      ...keyIfNone('OPENAI_API_KEY', way, env),
      ...(way.model !== null && { OPENAI_MODEL: way.model }),
    }),
}
