import { join } from 'node:path'
import { isJsonObject, parseJsonText } from '../../../json/json-value.ts'
import {
  isSet,
  LaunchError,
  openAiUrl,
  type KnownProgram,
  type LaunchPlace,
  type Way,
} from '../known-program.ts'

/** The Codex CLI. What `-c` says goes before what its config.toml says. */
export const codex: KnownProgram = {
  name: 'Codex',
  commands: ['codex'],
  packages: ['@openai/codex', '@openai/codex-linux-x64'],
  additions: async (way, place) => {
    const settings = way.isOneServer ? ownProvider(way, place) : await builtInProvider(way, place)
    const model = way.model === null ? [] : [`model=${JSON.stringify(way.model)}`]
    return { args: [...settings, ...model].flatMap((setting) => ['-c', setting]) }
  },
}

// --- internal ---

// A text of TOML is spelt as one of JSON.

/** A provider that asks for no login. A key is sent if there is one. */
function ownProvider(way: Way, { env }: LaunchPlace): readonly string[] {
  const members = [
    'name="Foldgate"',
    `base_url=${JSON.stringify(openAiUrl(way))}`,
    'wire_api="responses"',
    ...(isSet(env, 'OPENAI_API_KEY') ? ['env_key="OPENAI_API_KEY"'] : []),
  ]
  return ['model_provider="foldgate"', `model_providers.foldgate={${members.join(', ')}}`]
}

/** Its own provider with another address: logins and the list of sessions stay as they are. */
async function builtInProvider(way: Way, place: LaunchPlace): Promise<readonly string[]> {
  const isChatGpt = await isSignedInByChatGpt(place)
  if (isChatGpt && way.chatGptPath === null) {
    throw new LaunchError(
      'Codex is signed in by ChatGPT, and the Foldgate that runs has no upstream named chatgpt: leave --attach out',
    )
  }
  const url = isChatGpt ? `${way.origin}${way.chatGptPath}/v1` : openAiUrl(way)
  return ['model_provider="openai"', `openai_base_url=${JSON.stringify(url)}`]
}

/** Whether it is signed in by ChatGPT, whose requests go to another server than those with a key. Only looked at. */
async function isSignedInByChatGpt({ env, readText }: LaunchPlace): Promise<boolean> {
  if (isSet(env, 'CODEX_API_KEY')) return false
  const home = env['CODEX_HOME'] ?? join(env['HOME'] ?? '', '.codex')
  const login = parseJsonText((await readText(join(home, 'auth.json'))) ?? '')
  if (!isJsonObject(login)) return false
  const hasTokens = isJsonObject(login['tokens'])
  return login['auth_mode'] === 'chatgpt' || (hasTokens && typeof login['OPENAI_API_KEY'] !== 'string')
}
