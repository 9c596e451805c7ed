import { expect, test } from 'vitest'
import { isDeepStrictEqual } from 'node:util'
import { findProgram, knownCommands, nearestProgram } from '../../../src/commands/run/find-program.ts'
import { LaunchError, printed, type Way, withoutKey } from '../../../src/commands/run/known-program.ts'
import { childEnvironment } from '../../../src/commands/run/start-child.ts'

const vendors: Way = {
  origin: 'http://127.0.0.1:7',
  messagesPath: '/u/anthropic',
  isAnthropic: true,
  isOneServer: false,
  chatGptPath: '/u/chatgpt',
  model: null,
  windowTokens: null,
}

/** A Foldgate that runs, and has no way to the vendors. */
const running: Way = { ...vendors, messagesPath: '', chatGptPath: null, isAnthropic: false }

/** A local server that speaks everything, and has one model. */
const local: Way = { ...running, isOneServer: true, model: 'qwen3:8b' }

type Texts = Readonly<Record<string, string>>

const nothing = { cwd: '/shop', folder: '/run', args: [], readText: async () => null }

async function told(
  command: string,
  {
    way,
    args = [],
    env = {},
    files = {},
  }: { way: Way; args?: readonly string[]; env?: Texts; files?: Texts },
): Promise<readonly string[]> {
  const place = {
    env,
    cwd: '/shop',
    folder: '/run',
    args,
    readText: async (path: string) => files[path] ?? null,
  }
  return printed(await findProgram([command]).program.additions(way, place)).split('\n')
}

test('a sample of each program in front of the vendors: the keys that it has go along', async () => {
  expect(await told('claude', { way: vendors })).toEqual([
    'ANTHROPIC_BASE_URL=http://127.0.0.1:7/u/anthropic',
    '# Claude Code turns it off for a base URL that it does not know',
    'ENABLE_TOOL_SEARCH=true',
  ])
  expect(await told('codex', { way: vendors })).toEqual([
    `arguments before its own: -c 'model_provider="openai"' -c 'openai_base_url="http://127.0.0.1:7/v1"'`,
  ])
  expect(await told('opencode', { way: vendors })).toEqual([
    'OPENCODE_CONFIG_CONTENT={"provider":{"openai":{"options":{"baseURL":"http://127.0.0.1:7/v1"}},"anthropic":{"options":{"baseURL":"http://127.0.0.1:7/u/anthropic/v1"}}}}',
  ])
  expect(await told('qwen', { way: vendors })).toEqual(['OPENAI_BASE_URL=http://127.0.0.1:7/v1'])
  expect(await told('aider', { way: vendors })).toEqual([
    'OPENAI_API_BASE=http://127.0.0.1:7/v1',
    "# goes before aider's settings files, which the variable above does not",
    'AIDER_OPENAI_API_BASE=http://127.0.0.1:7/v1',
    'ANTHROPIC_API_BASE=http://127.0.0.1:7/u/anthropic',
  ])
  expect(await told('agent', { way: vendors })).toEqual([
    'OPENAI_BASE_URL=http://127.0.0.1:7/v1',
    'OPENAI_API_BASE=http://127.0.0.1:7/v1',
    'ANTHROPIC_BASE_URL=http://127.0.0.1:7/u/anthropic',
  ])
})

test('a sample of each program in front of one server with one model: no login is wanted, none is sent there', async () => {
  expect(await told('claude', { way: local })).toEqual([
    'ANTHROPIC_BASE_URL=http://127.0.0.1:7',
    "# else a line that changes with each request spoils the server's prompt cache",
    'CLAUDE_CODE_ATTRIBUTION_HEADER=0',
    // It was printed alone, and looked like a setting of the window.
    "# not the model's window, which Foldgate finds out and keeps to: so large that the program does not compact by itself",
    'CLAUDE_CODE_MAX_CONTEXT_TOKENS=1000000',
    '# no key is set, and the program wants one: local servers want none',
    'ANTHROPIC_AUTH_TOKEN=none',
    'ANTHROPIC_MODEL=qwen3:8b',
    '# Claude Code asks further models for other work: they are all this one',
    'ANTHROPIC_SMALL_FAST_MODEL=qwen3:8b',
    'ANTHROPIC_DEFAULT_FABLE_MODEL=qwen3:8b',
    'ANTHROPIC_DEFAULT_OPUS_MODEL=qwen3:8b',
    'ANTHROPIC_DEFAULT_SONNET_MODEL=qwen3:8b',
    'ANTHROPIC_DEFAULT_HAIKU_MODEL=qwen3:8b',
  ])
  expect(await told('codex', { way: local })).toEqual([
    `arguments before its own: -c 'model_provider="foldgate"' -c 'model_providers.foldgate={name="Foldgate", base_url="http://127.0.0.1:7/v1", wire_api="responses"}' -c 'model="qwen3:8b"'`,
  ])
  expect(await told('qwen', { way: local })).toEqual([
    'OPENAI_BASE_URL=http://127.0.0.1:7/v1',
    '# no key is set, and the program wants one: local servers want none',
    'OPENAI_API_KEY=none',
    'OPENAI_MODEL=qwen3:8b',
    'arguments before its own: --auth-type openai --model qwen3:8b',
  ])
  const chosen = await told('qwen', { way: local, args: ['--auth-type=gemini', '--model', 'other'] })
  expect(chosen.join()).not.toContain('arguments')
  expect(await told('aider', { way: local })).toContain('AIDER_MODEL=openai/qwen3:8b')
  // Its clients append the path of its own API. In front of the vendors they stay where they were: nobody answers them there.
  const agent = ['OLLAMA_HOST=http://127.0.0.1:7', 'OLLAMA_BASE_URL=http://127.0.0.1:7']
  expect(await told('agent', { way: local })).toEqual(expect.arrayContaining(agent))
  const [opencode = ''] = await told('opencode', { way: local })
  expect(JSON.parse(opencode.slice(opencode.indexOf('=') + 1))).toMatchObject({
    provider: {
      foldgate: { options: { baseURL: 'http://127.0.0.1:7/v1', apiKey: 'none' }, models: { 'qwen3:8b': {} } },
    },
    model: 'foldgate/qwen3:8b',
    small_model: 'foldgate/qwen3:8b',
  })
})

test('further programs in front of one server with one model: by variables, or by a file of this run', async () => {
  expect(await told('goose', { way: local })).toEqual(
    expect.arrayContaining([
      'OPENAI_HOST=http://127.0.0.1:7',
      'GOOSE_PROVIDER=openai',
      'GOOSE_CONTEXT_LIMIT=1000000',
      'GOOSE_MODEL=qwen3:8b',
    ]),
  )
  expect(await told('crush', { way: vendors })).toEqual([
    'OPENAI_API_ENDPOINT=http://127.0.0.1:7/v1',
    'ANTHROPIC_API_ENDPOINT=http://127.0.0.1:7/u/anthropic',
  ])
  expect(await told('copilot', { way: local })).toEqual(
    expect.arrayContaining([
      'COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:7/v1',
      'COPILOT_PROVIDER_API_KEY=none',
      'COPILOT_MODEL=qwen3:8b',
    ]),
  )
  const [kilo = ''] = await told('kilo', { way: local })
  expect(kilo).toMatch(/^KILO_CONFIG_CONTENT=.*"model":"foldgate\/qwen3:8b"/)
  expect(await told('cline', { way: local })).toEqual([
    'CLINE_PROVIDER_SETTINGS_PATH=/run/providers.json',
    // A second run asked nothing: the process that the first had left behind did its work.
    'CLINE_SESSION_BACKEND_MODE=local',
    expect.stringMatching(/^file \/run\/providers\.json: .*"baseUrl":"http:\/\/127\.0\.0\.1:7\/v1"/),
    'arguments before its own: --provider openai-compatible --model qwen3:8b',
  ])
  expect(await told('droid', { way: local })).toEqual([
    'FACTORY_RUNTIME_SETTINGS_PATH=/run/settings.json',
    expect.stringMatching(/^file \/run\/settings\.json: .*"baseUrl":"http:\/\/127\.0\.0\.1:7\/v1"/),
  ])
  expect(await told('pi', { way: local })).toEqual([
    expect.stringMatching(/^file \/run\/foldgate\.mjs: .*registerProvider\("foldgate", .*"id":"qwen3:8b"/),
    'arguments before its own: --extension /run/foldgate.mjs --model foldgate/qwen3:8b',
  ])
  expect((await told('pi', { way: vendors })).join()).toContain('"baseUrl":"http://127.0.0.1:7/u/anthropic"')
})

// They would have gone to their own service, and past Foldgate.
test('what cannot be led is not started, and told why', async () => {
  for (const name of ['copilot', 'cline', 'droid'])
    await expect(told(name, { way: vendors })).rejects.toThrow(
      'write foldgate run --upstream URL --model NAME',
    )
  await expect(told('gemini', { way: local })).rejects.toThrow("Gemini's own API")
})

// It was looked for in what was printed: a line's end behind it, or a quote in it, and it was shown; the key "m" was found in
// every other word.
test.each(['sk-planted', 'sk-planted\r', 'sk-"planted', 'm', '  '])(
  'the key %j is not printed, and nothing else is changed',
  async (key) => {
    const way = { ...local, model: 'gpt-5' }
    const printedWith = async (name: string, OPENAI_API_KEY: string): Promise<string> => {
      const place = { ...nothing, env: withoutKey({ OPENAI_API_KEY }) }
      return printed(await findProgram([name]).program.additions(way, place))
    }
    for (const name of ['copilot', 'cline', 'droid', 'pi']) {
      const text = await printedWith(name, key)
      expect(text).not.toContain('planted')
      expect(text.includes('$OPENAI_API_KEY')).toBe(key.trim() !== '')
      if (key.trim() !== '') expect(text).toBe(await printedWith(name, 'another'))
    }
  },
)

// All of them were started a second later for it, the ones that make nothing of it, too.
test.each(knownCommands.filter((name) => name !== 'gemini'))(
  '%s waits for the window if it is told of it, and else not',
  async (name) => {
    const { program } = findProgram([name])
    const place = { env: {}, ...nothing }
    const [small, unknown] = await Promise.all(
      [8_000, null].map((windowTokens) => program.additions({ ...local, windowTokens }, place)),
    )
    expect(program.asksWindow === true).toBe(!isDeepStrictEqual(small, unknown))
  },
)

/** What opencode is told of the model. */
async function limitOf(way: Way): Promise<unknown> {
  const additions = await findProgram(['opencode']).program.additions(way, { env: {}, ...nothing })
  return JSON.parse(additions.env?.['OPENCODE_CONFIG_CONTENT'] ?? '').provider.foldgate.models['qwen3:8b']
}

// They kept 32,000 tokens free for a reply, half of such a window and more.
test('in a small window Claude Code and opencode keep a quarter for a reply, unless they were told another figure', async () => {
  const small = { ...local, windowTokens: 32_768 }
  const variable = 'CLAUDE_CODE_MAX_OUTPUT_TOKENS'
  expect(await told('claude', { way: small })).toContain(`${variable}=8192`)
  const env = { [variable]: '4000' }
  expect((await told('claude', { way: small, env })).join()).not.toContain(variable)
  expect((await told('claude', { way: { ...local, windowTokens: 200_000 } })).join()).not.toContain(variable)
  expect(await limitOf(small)).toEqual({ name: 'qwen3:8b', limit: { context: 0, output: 8192 } })
  expect(await limitOf(local)).toEqual({ name: 'qwen3:8b' })
})

test('what the user has set stays, unless it leads past Foldgate; his keys are never shown', async () => {
  const env = {
    ANTHROPIC_API_KEY: 'PLANTED',
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: '32000',
    CLAUDE_CODE_USE_BEDROCK: '1',
    OPENAI_API_KEY: 'PLANTED',
    OPENCODE_CONFIG_CONTENT: '{"theme":"dark","provider":{"openai":{"options":{"apiKey":"PLANTED"}}}}',
  }
  const claude = await told('claude', { way: { ...local, model: null }, env })
  expect(claude).toEqual([
    'ANTHROPIC_BASE_URL=http://127.0.0.1:7',
    "# else a line that changes with each request spoils the server's prompt cache",
    'CLAUDE_CODE_ATTRIBUTION_HEADER=0',
    '# else requests go to that cloud, past the base URL',
    'CLAUDE_CODE_USE_BEDROCK=0',
  ])
  const [codex = ''] = await told('codex', { way: local, env })
  expect(codex).toContain('env_key="OPENAI_API_KEY"')
  const { program } = findProgram(['opencode'])
  const additions = await program.additions(local, { env, ...nothing })
  expect(printed(additions)).not.toContain('PLANTED')
  expect(JSON.parse(additions.env?.['OPENCODE_CONFIG_CONTENT'] ?? '')).toMatchObject({
    theme: 'dark',
    provider: { openai: { options: { apiKey: 'PLANTED', baseURL: 'http://127.0.0.1:7/v1' } } },
  })
  const broken = program.additions(local, { env: { OPENCODE_CONFIG_CONTENT: '{' }, ...nothing })
  await expect(broken).rejects.toThrow(LaunchError)
})

// What stands in its settings goes before its environment: the base URL was not read, and no request came through.
test('Claude Code whose settings name a server is told again on its command line; a key for that server goes nowhere else', async () => {
  const files = {
    '/home/me/.claude/settings.json':
      '{"env":{"ANTHROPIC_BASE_URL":"https://first.example","ANTHROPIC_AUTH_TOKEN":"PLANTED"}}',
    '/shop/.claude/settings.local.json': '{"env":{"ANTHROPIC_BASE_URL":"https://second.example"}}',
  }
  const env = { HOME: '/home/me' }
  const readText = async (path: string) => new Map(Object.entries(files)).get(path) ?? null
  const place = { ...nothing, env, readText }
  expect(await findProgram(['claude']).program.ownVariables?.(place)).toEqual({
    ANTHROPIC_BASE_URL: 'https://second.example',
    ANTHROPIC_AUTH_TOKEN: 'PLANTED',
  })
  const there = await told('claude', { way: { ...vendors, isAnthropic: false }, env, files })
  expect(there).toContain(
    `arguments before its own: --settings '{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:7/u/anthropic"}}'`,
  )
  expect(there.join()).not.toContain('ANTHROPIC_AUTH_TOKEN')
  const elsewhere = await told('claude', { way: { ...local, model: null }, env, files })
  expect(elsewhere.at(-1)).toBe(
    `arguments before its own: --settings '{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:7","ANTHROPIC_AUTH_TOKEN":"none"}}'`,
  )
  const own = await told('claude', { way: vendors, env, files, args: ['--settings', 'x'] })
  expect(own.join()).not.toContain('--settings')
})

test('a Foldgate that runs and cannot serve a program is not given to it', async () => {
  await expect(told('claude', { way: running })).rejects.toThrow('no upstream named anthropic')
  const files = { '/home/me/.codex/auth.json': '{"auth_mode":"chatgpt","tokens":{}}' }
  const codex = told('codex', { way: running, env: { HOME: '/home/me' }, files })
  await expect(codex).rejects.toThrow('no upstream named chatgpt')
})

// Signed in by ChatGPT, Codex sends its token to the base URL that it is given: OpenAI's API would refuse it.
test('Codex signed in by ChatGPT goes where ChatGPT is; with a key, where the API is', async () => {
  const files = {
    '/home/me/.codex/auth.json':
      '{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"id_token":"PLANTED"}}',
    '/elsewhere/auth.json': '{"OPENAI_API_KEY":"PLANTED","tokens":null}',
  }
  const address = async (env: Texts): Promise<string | undefined> =>
    /openai_base_url="([^"]*)"/.exec((await told('codex', { way: vendors, env, files })).join())?.[1]
  expect(await address({ HOME: '/home/me' })).toBe('http://127.0.0.1:7/u/chatgpt/v1')
  expect(await address({ HOME: '/home/me', CODEX_HOME: '/elsewhere' })).toBe('http://127.0.0.1:7/v1')
  expect(await address({ HOME: '/home/me', CODEX_API_KEY: 'key' })).toBe('http://127.0.0.1:7/v1')
  expect(await address({ HOME: '/nobody' })).toBe('http://127.0.0.1:7/v1')
})

// It was started all the same, and asked the provider that it had asked last.
test.each([
  ['opencode', true],
  ['opencode run hello', true],
  ['npx opencode-ai run hello', true],
  ['opencode --model openai/gpt-5', false],
  ['opencode run -m=foldgate/m hello', false],
  ['claude', false],
])('in front of a server of which no model is named, %s lacks one: %s', (line, lacks) => {
  const command = line.split(' ')
  const { program, ownArgumentsAt } = findProgram(command)
  const place = { ...nothing, env: {}, args: command.slice(ownArgumentsAt) }
  const unnamed = { ...local, model: null }
  const env = { OPENCODE_CONFIG_CONTENT: '{"model":"openai/gpt-5"}' }
  expect(program.lacksModel?.(unnamed, place) ?? false).toBe(lacks)
  for (const [way, at] of [
    [local, place],
    [vendors, place],
    [unnamed, { ...place, env }],
  ] as const)
    expect(program.lacksModel?.(way, at) ?? false).toBe(false)
})

test.each([
  ['claude -p hello', 'Claude Code', 1],
  ['/home/me/.local/bin/claude', 'Claude Code', 1],
  ['claude.cmd', 'Claude Code', 1],
  ['codex exec claude', 'Codex', 1],
  ['npx codex exec', 'Codex', 2],
  ['npx -y @openai/codex@latest exec', 'Codex', 3],
  ['node /x/node_modules/@openai/codex/bin/codex.js exec', 'Codex', 2],
  ['node /x/node_modules/@qwen-code/qwen-code/cli.js', 'Qwen Code', 2],
  ['bunx opencode-ai@1.2.3', 'opencode', 2],
  ['uvx aider', 'aider', 2],
  ['npx @github/copilot@1.0.102', 'GitHub Copilot CLI', 2],
  ['node /x/node_modules/@earendil-works/pi-coding-agent/dist/cli.js', 'pi', 2],
  ['kilocode run', 'Kilo', 1],
  ['node server.js codex', 'any program', 1],
  ['claude-code-router', 'any program', 1],
  ['echo claude', 'any program', 1],
  ['npx', 'any program', 1],
])('%s is %s', (command, name, ownArgumentsAt) => {
  const found = findProgram(command.split(' '))
  expect([found.program.name, found.ownArgumentsAt]).toEqual([name, ownArgumentsAt])
})

test.each([
  ['cluade', 'claude'],
  ['Opncode', 'opencode'],
  ['aidr', 'aider'],
  // It is known, and is not there: nothing is misspelt.
  ['claude', null],
  ['./cluade', null],
  ['frobnicate', null],
])('%s was meant to be %s', (word, meant) => {
  expect(nearestProgram(word)).toBe(meant)
})

const additions = { env: { OPENAI_BASE_URL: 'http://127.0.0.1:7/v1' }, args: [], shown: {}, reasons: {} }

test('a program has the environment that it would have had, and what points it here', () => {
  const before = { LANG: 'C', OPENAI_BASE_URL: 'http://h/v1' }
  expect(childEnvironment(before, additions)).toEqual({ LANG: 'C', ...additions.env })
})

// A proxy on another machine would look for 127.0.0.1 there.
test('behind a proxy it reaches this machine without it; what else is excepted stays so', () => {
  const proxied = { https_proxy: '', HTTP_PROXY: 'http://proxy:3128', no_proxy: 'intern, 127.0.0.1' }
  const hosts = 'intern,127.0.0.1,localhost'
  expect(childEnvironment(proxied, additions)).toMatchObject({ NO_PROXY: hosts, no_proxy: hosts })
  const all = { ...proxied, no_proxy: '*' }
  expect(childEnvironment(all, additions)).toEqual({ ...all, ...additions.env })
})
