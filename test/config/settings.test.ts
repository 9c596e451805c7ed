import { inspect } from 'node:util'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FlagValues } from '../../src/config/flags.ts'
import { formatProblem } from '../../src/config/problem.ts'
import { loadSettings } from '../../src/config/settings.ts'
import { temporaryFolder } from './temporary-folder.ts'

type Given = {
  readonly yaml?: string
  readonly files?: Readonly<Record<string, string>>
  readonly flags?: FlagValues
  readonly env?: Readonly<Record<string, string>>
}

async function load({ yaml, files = {}, flags = {}, env = {} }: Given) {
  const cwd = await temporaryFolder(yaml === undefined ? files : { 'foldgate.yaml': yaml, ...files })
  return { cwd, loaded: await loadSettings({ flags, env, cwd }) }
}

async function settingsOf(given: Given) {
  const { cwd, loaded } = await load(given)
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'))
  return { ...loaded.settings, cwd }
}

async function problemsOf(given: Given): Promise<readonly string[]> {
  const { loaded } = await load(given)
  return loaded.ok ? [] : loaded.problems.map(formatProblem)
}

// Each default stands in settings.schema.json, which is what the schema says.
test('without flags, environment and file there are folders of one’s own, no keys and one upstream', async () => {
  const settings = await settingsOf({})
  const folder = join(settings.cwd, 'profiles')
  expect(settings).toMatchObject({ profiles: folder, profiles_required: false, config_file: null })
  expect([settings.client_keys, settings.admin.token, settings.store.encrypt_key]).toEqual([[], null, null])
  const address = { name: 'default', url: 'https://api.openai.com/v1', key: null, headers: {} }
  const defaults = { concurrency: null, forward_client_key: true, drops_client_key: false }
  const place = { set_by: '--upstream (FOLDGATE_UPSTREAM)' }
  expect([...settings.upstreams]).toEqual([['default', { ...address, ...defaults, ...place }]])
})

test('flags go before the environment, this before the file, the file before the defaults', async () => {
  const yaml = 'port: 1\nhost: localhost\nupstreams: {default: {url: "http://file", concurrency: 3}}\n'
  const env = { FOLDGATE_PORT: '2', FOLDGATE_UPSTREAM: 'http://env/v1/', FOLDGATE_LOG_LEVEL: '' }
  const settings = await settingsOf({ yaml, env, flags: { port: '3' } })
  expect(settings).toMatchObject({ port: 3, host: 'localhost', log_level: 'info' })
  expect(settings.upstreams.get('default')).toMatchObject({ url: 'http://env/v1', concurrency: 3 })
})

// Whoever had written the address into foldgate.yaml was told to look at a flag that they had never used.
test('an address is told with what has set it', async () => {
  const yaml = 'upstreams: {default: {url: "http://file"}, cheap: {url: "http://cheap"}}\n'
  const variable = { FOLDGATE_UPSTREAM: 'http://env/v1' }
  const given = [
    { yaml },
    { yaml, env: variable },
    { yaml, env: variable, flags: { upstream: 'http://flag' } },
  ]
  const settings = await Promise.all(given.map((each) => settingsOf(each)))
  expect(settings.map(({ upstreams }) => upstreams.get('default')?.set_by)).toEqual([
    'upstreams.default.url in foldgate.yaml',
    'FOLDGATE_UPSTREAM',
    '--upstream',
  ])
  expect(settings.at(-1)?.upstreams.get('cheap')?.set_by).toBe('upstreams.cheap.url in foldgate.yaml')
})

// A Service named foldgate made Kubernetes set FOLDGATE_PORT to its address in every pod that began later: none of the
// namespace's Foldgates started again, for a port that nobody had set.
test('what Kubernetes says of a Service of our name is no setting', async () => {
  const env = { FOLDGATE_PORT: 'tcp://10.96.0.7:80', FOLDGATE_ADMIN_PORT: 'tcp://10.96.0.8:80' }
  const settings = await settingsOf({ yaml: 'port: 4000\n', env })
  expect([settings.port, settings.admin.port]).toEqual([4000, 3654])
})

// A foldgate.yml was passed over without a word, and with it the client keys that it held.
test.each(['foldgate.yml', 'foldgate.json'])('%s is told not to be the settings file', async (name) => {
  expect(await problemsOf({ files: { [name]: 'port: 1\n' } })).toEqual([
    `${name}: is not read: the settings file is foldgate.yaml — rename it, or write --config ${name}`,
  ])
  expect(await problemsOf({ files: { [name]: '{"port": 1}' }, flags: { config: name } })).toEqual([])
  expect(await problemsOf({ yaml: '', files: { [name]: 'port: 1\n' } })).toEqual([])
})

test('paths in flags are relative to the working directory, those in the file to the file', async () => {
  const files = { 'etc/f.yaml': 'store: {url: "sqlite:a.db"}\narchive: {dir: kept}\n', 'own/x.yaml': '' }
  const settings = await settingsOf({ files, flags: { config: 'etc/f.yaml', profiles: 'own' } })
  expect(settings.profiles).toBe(join(settings.cwd, 'own'))
  expect(settings.store.url).toBe(`sqlite:${join(settings.cwd, 'etc/a.db')}`)
  expect(settings.archive.dir).toBe(join(settings.cwd, 'etc/kept'))
  expect(settings.config_file).toBe(join(settings.cwd, 'etc/f.yaml'))
})

test('all values that are wrong are told at once, each at its place', async () => {
  const yaml = 'prot: 80\nlimits:\n  body: 3\n'
  const env = { FOLDGATE_PORT: 'many' }
  expect(await problemsOf({ yaml, env, flags: { upstream: 'localhost:8080/v1' } })).toEqual([
    '--upstream: must be an address that begins with http:// or https://',
    'FOLDGATE_PORT: must be a port from 0 to 65535; found "many"',
    'foldgate.yaml:1:1: unknown key "prot" — did you mean "port"?',
    'foldgate.yaml:3:3: unknown key "body" in "limits" — did you mean "body_mb"?',
  ])
})

test('so is all that is wrong between values and with keys', async () => {
  const yaml =
    '\nupstreams: {cheap: {api_key_env: CHEAP_KEY}}\nclient_keys: [{name: a}, {name: a, key_env: A_KEY}]\n'
  const problems = await problemsOf({ yaml, flags: { profiles: 'nowhere' } })
  expect(problems.map((line) => line.replace(/ \/\S+/, ' PATH'))).toEqual([
    '--profiles: the folder of profiles, PATH does not exist — create it, or name another',
    'foldgate.yaml:2:13: "upstreams.cheap.url" is missing — add the address, such as url: https://host/v1',
    'foldgate.yaml:2:34: the environment variable CHEAP_KEY in "upstreams.cheap.api_key_env" is not set — set it, or remove the setting',
    'foldgate.yaml:3:15: "client_keys[0]" has no key — add key_env or key_file',
    'foldgate.yaml:3:33: two client keys have the name "a" — names tell clients apart: give each its own',
    'foldgate.yaml:3:45: the environment variable A_KEY in "client_keys[1].key_env" is not set — set it, or remove the setting',
  ])
})

test('a setting that is wrong is not also told as missing', async () => {
  const yaml = 'upstreams: {cheap: {url: "ftp://h"}}\nclient_keys: [{name: a, kye_env: A}]\nhost: 0.0.0.0\n'
  expect(await problemsOf({ yaml })).toHaveLength(2)
})

test.each([
  ['http://user:secret@h/v1', 'without user and password'],
  ['https://h/v1?key=secret', 'without a query'],
  ['https://h/v1#secret', 'without a fragment'],
  ['file:///secret', 'begins with http:// or https://'],
  ['https://h/ secret', 'without spaces'],
  ['secret', 'begins with http:// or https://'],
])('the upstream address %s is refused and not repeated', async (upstream, reason) => {
  const problems = await problemsOf({ flags: { upstream } })
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain(reason)
  expect(problems[0]).not.toContain('secret')
})

test('keys are read from variables and files, and show themselves to nobody', async () => {
  const yaml = `
upstreams:
  default: {api_key_env: MAIN_KEY}
  cheap: {url: "http://cheap", api_key_file: keys/cheap}
admin: {token_env: TOKEN}
client_keys: [{name: a, key_env: A_KEY, overrides: [profile]}, {name: b, key_env: B_KEY, overrides: false}]
`
  const env = { MAIN_KEY: 'sk-main', TOKEN: 'sk-token', A_KEY: 'sk-a', B_KEY: 'sk-b' }
  const settings = await settingsOf({ yaml, env, files: { 'keys/cheap': 'sk-cheap\n' } })
  expect(settings.upstreams.get('default')?.key?.now()[0].reveal()).toBe('sk-main')
  expect(settings.upstreams.get('cheap')?.key?.now()[0].reveal()).toBe('sk-cheap')
  const clients = settings.client_keys.map(
    ({ name, key, overrides }) => `${name} ${key.now()[0].reveal()} ${overrides.join()}`,
  )
  expect(clients).toEqual(['a sk-a profile', 'b sk-b '])
  const shown = `${inspect(settings, { depth: 9 })} ${JSON.stringify([...settings.upstreams.values(), settings])}`
  expect(shown).not.toContain('sk-')
  expect(settings.admin.token?.toString()).toBe('[secret]')
})

// Somebody pastes the key itself where its variable's name belongs. Some keys are spelt like names.
test.each([
  ['in place of a variable', 'sk-abcdef0123456789', {}],
  ['that is spelt like a variable', 'gsk_abcdef0123456789', {}],
  ['that no header can carry', 'MAIN_KEY', { MAIN_KEY: 'sk-one\nabcdef' }],
])('a key %s is a problem that does not tell it', async (_, name, env) => {
  const problems = await problemsOf({ yaml: `upstreams: {default: {api_key_env: ${name}}}`, env })
  expect(problems).toHaveLength(1)
  expect(problems[0]).not.toMatch(/abcdef|sk-/)
})

test('syntax errors do not repeat what stands around them', async () => {
  const yaml = 'upstreams:\n  default: {headers: {authorization: Bearer sk-secret: x'
  const problems = await problemsOf({ yaml })
  expect(problems.length).toBeGreaterThan(0)
  expect(problems.join('\n')).not.toContain('secret')
})

const held = 'upstreams: {default: {api_key_env: MAIN_KEY}}\n'
const clientKeys = 'client_keys: [{name: a, key_env: A_KEY}]\n'
const everySite = 'cors: {origins: ["https://app.example", "*"]}\n'

test.each<[string, Given, string?]>([
  ['with a key of its own Foldgate is for this machine', { yaml: held }],
  [
    'off loopback it is no open relay: it needs client keys',
    { yaml: held, flags: { host: '0.0.0.0' } },
    '--host: is 0.0.0.0, which other machines reach, and Foldgate holds a key for the upstream "default": anyone could use it — add client_keys to foldgate.yaml, or listen on 127.0.0.1',
  ],
  ['with them it may', { yaml: held + clientKeys, flags: { host: '0.0.0.0' } }],
  // With a key of its own Foldgate let in every page that its user happened to open.
  [
    'it lets in pages of every site only with client keys',
    { yaml: held + everySite },
    'foldgate.yaml:2:17: "cors.origins" lets in the pages of every site, and Foldgate holds a key for the upstream "default": any page that is opened on this machine could use it — name the origins, or add client_keys to foldgate.yaml',
  ],
  ['or without a key', { yaml: everySite }],
  ['or pages of a site that is named', { yaml: `${held}cors: {origins: ["https://app.example"]}` }],
  ['and with both', { yaml: held + everySite + clientKeys }],
  [
    'the admin listener needs a token off loopback',
    { flags: { 'admin-host': '0.0.0.0' } },
    '--admin-host: is 0.0.0.0, which other machines reach, and there is no token — set admin.token_env in foldgate.yaml, listen on 127.0.0.1, or turn it off by --admin-port 0',
  ],
  ['unless it is off', { flags: { 'admin-host': '0.0.0.0', 'admin-port': '0' } }],
  ['or has one', { yaml: 'admin: {host: 0.0.0.0, token_env: MAIN_KEY}' }],
  [
    'two clients with one key are told',
    { yaml: 'client_keys: [{name: a, key_env: A_KEY}, {name: b, key_env: A_KEY}]' },
    'foldgate.yaml:1:14: the client keys "a" and "b" are the same key — give each client a key of its own',
  ],
  [
    'a settings file that was named by a flag has to be there',
    { flags: { config: 'f.yaml' } },
    '--config: the file f.yaml does not exist',
  ],
  [
    'and one that a variable names',
    { env: { FOLDGATE_CONFIG: 'f.yaml' } },
    'FOLDGATE_CONFIG: the file f.yaml does not exist',
  ],
  [
    'a scalar where a group belongs is told even when a flag sets a key in it',
    { yaml: 'upstreams: 5', flags: { upstream: 'http://h' } },
    'foldgate.yaml:1:12: "upstreams" must be a map from name to upstream, such as default: {url: https://host/v1}',
  ],
  // Every object has a `constructor`, the environment among them: reading the settings ended in an exception.
  [
    'a variable that has the name of what every object has is not set',
    { yaml: 'upstreams: {default: {api_key_env: constructor}}\n' },
    'foldgate.yaml:1:36: the environment variable in "upstreams.default.api_key_env" is not set — set it, or remove the setting',
  ],
])('%s', async (_, given, problem) => {
  expect(await problemsOf({ ...given, env: { MAIN_KEY: 'k', A_KEY: 'a', ...given.env } })).toEqual(
    problem === undefined ? [] : [problem],
  )
})

/** Off loopback, with this header for the upstream. */
const problemsWith = (header: string) =>
  problemsOf({ yaml: `host: 0.0.0.0\nupstreams: {default: {headers: {${header}: k}}}\n` })

test('a key given as a header is a key that Foldgate holds', async () => {
  // A session's cookie is one, too: off loopback, everybody could use it.
  for (const name of ['Authorization', 'api-key', 'Cookie', 'Ocp-Apim-Subscription-Key'])
    expect([name, await problemsWith(name)]).toEqual([name, [expect.any(String)]])
  expect(await problemsWith('x-team')).toEqual([])
})

test("the client's credential goes to the default upstream only, unless one asks for it", async () => {
  const yaml =
    'upstreams: {default: {}, a: {url: "http://a"}, b: {url: "http://b", forward_client_key: true}}'
  const { upstreams } = await settingsOf({ yaml })
  expect([...upstreams.values()].map((each) => each.forward_client_key)).toEqual([true, false, true])
})

test("a client key of Foldgate's own goes to no upstream", async () => {
  const env = { A_KEY: 'a' }
  const { upstreams } = await settingsOf({ yaml: clientKeys, env })
  expect(upstreams.get('default')?.forward_client_key).toBe(false)
  const yaml = `${clientKeys}upstreams: {default: {forward_client_key: true}}`
  expect(await problemsOf({ yaml, env })).toHaveLength(1)
})

test.each([
  [{ A: 'held' }, 'the client key "a" is the key that Foldgate sends to the upstream "default"'],
  [{ A: 'token' }, 'the client key "a" is the token of the admin listener'],
  [{ A: 'fine\nheld' }, 'the client key "a" is the key that Foldgate sends to the upstream "default"'],
])('a client that has a key which no client is to have is told: %o', async (client, message) => {
  const yaml =
    'client_keys: [{name: a, key_env: A}]\nupstreams: {default: {api_key_env: HELD}}\nadmin: {token_env: TOKEN}\n'
  expect(await problemsOf({ yaml, env: { ...client, HELD: 'held', TOKEN: 'token' } })).toEqual([
    `foldgate.yaml:1:14: ${message} — give each client a key of its own`,
  ])
})
