import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfiguration } from '../../src/config/configuration.ts'
import { formatProblem } from '../../src/config/problem.ts'
import { settingsSchema } from '../../src/config/settings-schema.ts'
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
    foldgate.yaml:1:12: "upstreams" must be a map from name to upstream, such as default: {url: https://host/v1}
  upstreams: {default: ${url}}
    foldgate.yaml:1:22: "upstreams.default" must be a group of keys — indent its keys below it: url, api_key_env, api_key_file, headers, concurrency, forward_client_key
  upstream: ${url}
    foldgate.yaml:1:1: unknown key "upstream" — did you mean "upstreams"? Or it belongs in a profile, such as profiles/default.yaml
  url: ${url}
    foldgate.yaml:1:1: unknown key "url" — the key exists at another level: upstreams.NAME.url, store.url
  upstreams: {default: {base_url: "${url}"}}
    foldgate.yaml:1:23: unknown key "base_url" in "upstreams.default" — remove it; there are url, api_key_env, api_key_file, headers, concurrency, forward_client_key
  host: "0.0.0.0:80"
    foldgate.yaml:1:7: "host" must be a host name or an address, without scheme, port or path; found "0.0.0.0:80"
  window: 16384
    foldgate.yaml:1:1: unknown key "window" — it belongs in a profile, such as profiles/default.yaml
  trigger: 0.8
    foldgate.yaml:1:1: unknown key "trigger" — it belongs in a profile, such as profiles/default.yaml
  admin: off
    foldgate.yaml:1:8: "admin" must be a group of keys; found "off" — indent its keys below it: host, port, token_env, show_content, metrics, metrics_models
`),
)('foldgate.yaml with %s', async (yaml, line) => {
  expect(await told({ 'foldgate.yaml': yaml })).toEqual([line])
})

test.each(
  cases(`
  api_key: KEY
    unknown key "api_key" — the key exists at another level: upstreams.NAME.api_key_env, upstreams.NAME.api_key_file
  upstreams: {default: {api_key: KEY}}
    unknown key "api_key" in "upstreams.default" — did you mean "api_key_env"?
  upstreams: "https://host/v1?key=KEY"
    "upstreams" must be a map from name to upstream, such as default: {url: https://host/v1}
  client_keys: [KEY]
    "client_keys[0]" must be a group of keys — indent its keys below it: name, key_env, key_file, profiles, upstreams, overrides
  client_keys: KEY
    "client_keys" must be a list of client keys, such as [{name: NAME, key_env: VARIABLE}] — write it as a list, in brackets: […]
  client_keys: [{name: a, key: KEY}]
    unknown key "key" in "client_keys[0]" — did you mean "key_env"?
  admin: {token: KEY}
    unknown key "token" in "admin" — did you mean "token_env"?
  store: "redis://:KEY@host"
    "store" must be a group of keys — indent its keys below it: url, ttl_days, max_mb, required, encrypt_key_env
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
    "window" must be a group of keys; found 16384 — indent its keys below it: tokens, max, output_reserve, encoding, ratio
  trigger: 0,8
    "trigger" must be a ratio above 0 and up to 1, or a whole number of tokens above 1, or off; found "0,8" — write 0.8, without quotes or units
  window: {tokens: "128,000"}
    "window.tokens" must be a whole number of tokens above 0, or auto; found "128,000" — write 128000, without quotes or units
  context_window: 8192
    unknown key "context_window" — remove it; docs/configuration.md lists every key
  window: {num_ctx: 8192}
    unknown key "num_ctx" in "window" — remove it; there are tokens, max, output_reserve, encoding, ratio
  models: qwen3
    "models" must be a list of patterns; found "qwen3" — write it as a list, in brackets: […]
  summary: off
    "summary" must be a group of keys; found "off" — indent its keys below it: upstream, model, mode, at, max_tokens, reasoning_tokens, parameters, min_savings_ratio, wait_ms, concurrent, system_prompt, user_prompt
  api_key: sk-abc
    unknown key "api_key" — remove it; docs/configuration.md lists every key
  upstream: "http://user:sk-abc@host/v1"
    "upstream" must be an upstream's name, not an address — name it in foldgate.yaml, upstreams: {NAME: {url: URL}}, and write upstream: NAME
`),
)('a profile with %s', async (yaml, line) => {
  const lines = await told({ 'profiles/mine.yaml': yaml })
  expect(lines.map((each) => each.replace(/^profiles\/mine\.yaml:\d+:\d+: /, ''))).toEqual([line])
})

test('each key of foldgate.yaml that no profile has is told to belong there, each of a profile to belong in one', async () => {
  const profile = Object.keys(profileKeys.shape)
  const settings = Object.keys(settingsSchema.shape)
  const lines = await told({
    'foldgate.yaml': profile.map((key) => `${key}: {}\n`).join(''),
    'profiles/mine.yaml': settings.map((key) => `${key}: {}\n`).join(''),
  })
  expect(lines.filter((line) => line.includes('it belongs in a profile'))).toHaveLength(profile.length)
  expect(lines.filter((line) => line.includes('it belongs in foldgate.yaml'))).toHaveLength(settings.length)
})
