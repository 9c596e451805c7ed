import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfiguration } from '../../src/config/configuration.ts'
import { formatProblem } from '../../src/config/problem.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'
import { lineToWrite } from '../../src/profiles/near-miss.ts'
import { profileNearMisses } from '../../src/profiles/resolve.ts'
import { profileKeys } from '../../src/profiles/schema.ts'
import { temporaryFolder } from './temporary-folder.ts'

const builtInDirectory = join(import.meta.dirname, '../../profiles')

/** What the start prints of these files. */
async function told(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const cwd = await temporaryFolder(files)
  const loaded = await loadConfiguration({ flags: {}, env: {}, cwd, builtInDirectory })
  return loaded.ok ? [] : loaded.problems.map(formatProblem)
}

const url = 'http://127.0.0.1:11434/v1'

/** Cases by two lines: what stands in a file, and what is told of it. */
function cases(text: string): (readonly [string, string])[] {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => line.trim())
  return Array.from({ length: lines.length / 2 }, (_, at) => [lines[2 * at] ?? '', lines[2 * at + 1] ?? ''])
}

// `upstreams: URL` was answered with "must be a map from name to upstream; found …", an address with its key among it,
// and `api_key` with "remove it": neither said what to write.
test.each(
  cases(`
  upstreams: ${url}
    foldgate.yaml:1:12: "upstreams" must be a map from name to upstream — write upstreams: {default: {url: ${url}}}
  upstreams: {default: ${url}}
    foldgate.yaml:1:22: "upstreams.default" must be a group of keys — write default: {url: ${url}}
  upstreams: {local: ${url}}
    foldgate.yaml:1:20: "upstreams.local" must be a group of keys — write {url: ${url}} in its place
  upstreams: {url: ${url}}
    foldgate.yaml:1:18: "upstreams.url" must be a group of keys — write upstreams: {default: {url: ${url}}}
  upstream: ${url}
    foldgate.yaml:1:1: unknown key "upstream" — write upstreams: {default: {url: ${url}}}
  url: ${url}
    foldgate.yaml:1:1: unknown key "url" — write upstreams: {default: {url: ${url}}}
  baseURL: ${url}
    foldgate.yaml:1:1: unknown key "baseURL" — write upstreams: {default: {url: ${url}}}
  host: ${url}
    foldgate.yaml:1:7: "host" must be a host name or an address, without scheme, port or path; found "${url}" — write upstreams: {default: {url: ${url}}}
  upstreams: {default: {base_url: "${url}"}}
    foldgate.yaml:1:23: unknown key "base_url" in "upstreams.default" — write url: URL
  host: "0.0.0.0:80"
    foldgate.yaml:1:7: "host" must be a host name or an address, without scheme, port or path; found "0.0.0.0:80"
  window: 16384
    foldgate.yaml:1:1: unknown key "window" — it belongs in a profile: write window: {tokens: 16384} into profiles/default.yaml
  trigger: 0.8
    foldgate.yaml:1:1: unknown key "trigger" — it belongs in a profile, such as profiles/default.yaml
  profiles: {default: {trigger: off}}
    foldgate.yaml:1:11: "profiles" must be text: a file's path; found a group of keys — it names a folder, and each profile is a file in there: profiles/NAME.yaml
  admin: off
    foldgate.yaml:1:8: "admin" must be a group of keys; found "off" — write admin: {port: 0}
`),
)('foldgate.yaml with %s', async (yaml, line) => {
  expect(await told({ 'foldgate.yaml': yaml })).toEqual([line])
})

test.each(
  cases(`
  api_key: KEY
    unknown key "api_key" — write it into an upstream: upstreams: {default: {…}} with api_key_env: NAME (an environment variable that holds the key) or api_key_file: FILE (a file that holds it)
  upstreams: {default: {api_key: KEY}}
    unknown key "api_key" in "upstreams.default" — write api_key_env: NAME (an environment variable that holds the key) or api_key_file: FILE (a file that holds it)
  upstreams: {api_key: KEY}
    "upstreams.api_key" must be a group of keys — an upstream's name comes first: upstreams: {default: {…}} with api_key_env: NAME (an environment variable that holds the key) or api_key_file: FILE (a file that holds it)
  upstream: "https://user:KEY@host/v1"
    unknown key "upstream" — write upstreams: {default: {url: URL}}
  upstreams: "https://host/v1?key=KEY"
    "upstreams" must be a map from name to upstream — write upstreams: {default: {url: URL}}
  client_keys: [KEY]
    "client_keys[0]" must be a group of keys — write a group of keys: name: NAME, with key_env: NAME (an environment variable that holds the key) or key_file: FILE (a file that holds it)
  client_keys: KEY
    "client_keys" must be a list of client keys — write a list of groups, each with name: NAME and key_env: NAME (an environment variable that holds the key) or key_file: FILE (a file that holds it)
  client_keys: [{name: a, key: KEY}]
    unknown key "key" in "client_keys[0]" — write key_env: NAME (an environment variable that holds the key) or key_file: FILE (a file that holds it)
  admin: {token: KEY}
    unknown key "token" in "admin" — write token_env: NAME, an environment variable that holds the token
  store: "redis://:KEY@host"
    "store" must be a group of keys — write store: {url: …}
`),
)('%s names the keys that there are, and shows no value', async (template, line) => {
  const key = 'sk-proj-0123456789abcdefghijklmnop'
  const lines = await told({ 'foldgate.yaml': template.replace('KEY', key) })
  expect(lines.map((each) => each.replace(/^foldgate\.yaml:\d+:\d+: /, ''))).toEqual([line])
  expect(lines.join()).not.toContain(key)
})

test.each(
  cases(`
  window: 16384
    "window" must be a group of keys; found 16384 — write window: {tokens: 16384}
  trigger: 0,8
    "trigger" must be a ratio above 0 and up to 1, or a whole number of tokens above 1, or off; found "0,8" — write 0.8, without quotes or units
  window: {tokens: "128,000"}
    "window.tokens" must be a whole number of tokens above 0, or auto; found "128,000" — write 128000, without quotes or units
  window: 16k
    "window" must be a group of keys; found "16k" — write window: {tokens: 16000}
  context_window: 8192
    unknown key "context_window" — write window: {tokens: 8192}
  window: {num_ctx: 8192}
    unknown key "num_ctx" in "window" — write window: {tokens: 8192}
  models: qwen3
    "models" must be a list of patterns; found "qwen3" — write models: ["qwen3"]
  models: "qwen*"
    "models" must be a list of patterns; found "qwen*" — write models: ["qwen*"]
  model: qwen3:8b
    unknown key "model" — write models: ["qwen3:8b"]
  summary: off
    "summary" must be a group of keys; found "off" — write summary: {mode: off}
  api_key: sk-abc
    unknown key "api_key" — upstreams belong in foldgate.yaml; write upstream: NAME here, the name that foldgate.yaml gives one
  upstream: "http://user:sk-abc@host/v1"
    "upstream" must be an upstream's name, not an address — name it in foldgate.yaml, upstreams: {NAME: {url: URL}}, and write upstream: NAME
`),
)('a profile with %s', async (yaml, line) => {
  const lines = await told({ 'profiles/mine.yaml': yaml })
  expect(lines.map((each) => each.replace(/^profiles\/mine\.yaml:\d+:\d+: /, ''))).toEqual([line])
})

test('each key of foldgate.yaml that no profile has is told to belong there, each of a profile to belong in one', async () => {
  const profile = Object.keys(profileKeys.shape)
  for (const key of Object.keys(settingsSchema.shape).filter((each) => !profile.includes(each)))
    expect([key, lineToWrite(profileNearMisses, [key], {})]).toEqual([
      key,
      expect.stringMatching(/ in foldgate\.yaml[,;]/),
    ])
  const lines = await told({ 'foldgate.yaml': profile.map((key) => `${key}: {}\n`).join('') })
  expect(lines.filter((line) => line.includes('belongs in a profile'))).toHaveLength(profile.length - 1)
})
