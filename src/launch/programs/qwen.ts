import {
  hasOption,
  isSet,
  keyIfNone,
  openAiUrl,
  placeholderReason,
  variables,
  type KnownProgram,
} from '../known-program.ts'

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
