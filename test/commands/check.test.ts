import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkConfiguration } from '../../src/commands/check.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'

const builtInDirectory = join(import.meta.dirname, '../../profiles')

const resolveWindow = () => ({ tokens: 32_768, kind: 'total', source: 'table' }) as const

async function check(
  files: Readonly<Record<string, string>>,
  model: string | null = null,
  env: Readonly<Record<string, string>> = {},
) {
  const cwd = await temporaryFolder(files)
  const result = await checkConfiguration({ cwd, flags: {}, env, builtInDirectory, model, resolveWindow })
  const text = result.text.replaceAll(cwd, 'CWD')
  const lines = text.split('\n')
  return { ...result, text, lines, warnings: lines.filter((line) => line.startsWith('warning:')) }
}

const MODELS = "the window is the model's (foldgate check --model NAME), "

const MEMORY =
  'memory: up to 512 MB for requests under way, 64 for the latest bodies, 64 for what is remembered of messages (limits)'

test('valid settings and profiles are ok', async () => {
  const { lines, exitCode } = await check({ 'foldgate.yaml': 'port: 80\n', 'profiles/mine.yaml': '' })
  expect([exitCode, ...lines]).toEqual([
    0,
    'ok: settings from CWD/foldgate.yaml',
    'profiles: default, mine, small-local',
    MEMORY,
    '',
    `profile  default: ${MODELS}4,096 tokens kept for the reply (window.output_reserve)`,
    `profile  mine: ${MODELS}4,096 tokens kept for the reply (window.output_reserve)`,
    `profile  small-local: ${MODELS}1,024 tokens kept for the reply (window.output_reserve)`,
  ])
})

test('of a profile with a window it says where a compaction begins, without a model, too', async () => {
  const files = {
    'profiles/fixed.yaml': 'window: {tokens: 9000}\ntrigger: 0.8\n',
    'profiles/capped.yaml': 'window: {tokens: 64000, max: 6000}\ntrigger: off\n',
  }
  const { lines } = await check(files)
  expect(lines.filter((line) => /fixed:|capped:/.test(line))).toEqual([
    'profile  capped: window 6,000 tokens (window.max), 1,500 kept for the reply (window.output_reserve), budget 4,500; compaction is off',
    'profile  fixed: window 9,000 tokens (window.tokens), 2,250 kept for the reply (window.output_reserve), budget 6,750; compaction begins beyond 5,400 and ends near 3,779, with nothing fixed',
  ])
})

test('the problems of settings and profiles are told together, one a line', async () => {
  const files = {
    'foldgate.yaml': 'prot: 80\nupstreams: {cheap: {}}\n',
    'profiles/mine.yaml': 'upstream: cheap\nwindow:\n  tokns: 3\n',
  }
  const { lines, exitCode } = await check(files)
  expect([exitCode, ...lines]).toEqual([
    1,
    'foldgate.yaml:1:1: unknown key "prot" — did you mean "port"?',
    'profiles/mine.yaml:3:3: unknown key "tokns" in "window" — did you mean "tokens"?',
    '2 problems',
  ])
  expect((await check({ 'profiles/mine.yaml': 'upstream: cheap\n' })).lines[0]).toBe(
    'profiles/mine.yaml:1:11: "upstream" names the upstream "cheap", which foldgate.yaml does not have — foldgate.yaml has: default',
  )
})

test('with a model it says which profile and window the model gets, and why', async () => {
  const files = {
    'profiles/local.yaml': 'models: ["qwen*"]\ntrigger: 20000\n',
    'profiles/agent.yaml': 'headers: {x-agent: explorer}\n',
    'profiles/elsewhere.yaml': 'headers: {x-agent: other}\nmodels: [gpt*]\n',
  }
  const { lines, exitCode } = await check(files, 'qwen3:8b')
  expect(exitCode).toBe(0)
  expect(lines.slice(3)).toEqual([
    '',
    'model    qwen3:8b',
    'profile  local, from profiles/local.yaml',
    'because  the model matches "qwen*", and no other profile matches more specifically',
    'window   32,768 tokens, total; source: table (the built-in table)',
    "reserve  4,096 tokens for the reply (window.output_reserve); a request's own limit takes its place",
    "budget   28,672 tokens of the model's, 27,306 of ours",
    "ratio    1.05 of the model's tokens for one of ours, by o200k_digits (that of the family Qwen; the first answers take its place)",
    "begins   when a prompt exceeds 21,000 tokens of the model's, 20,000 of ours (trigger: 20,000 tokens of the whole prompt)",
    "ends     at 14,700 tokens of the model's, 14,000 of ours (target: 14,000 tokens of the whole prompt)",
    'summary  none: recaps are made without a model and cost nothing',
    'note     requests with x-agent: explorer may get the profile agent',
  ])
})

async function linesFor(profile: string, model: string): Promise<readonly string[]> {
  const { lines } = await check({ 'profiles/own.yaml': `models: ["*"]\n${profile}` }, model)
  return lines.filter((line) => /^(?:window|reserve|budget|ratio|begins|ends|also) /.test(line))
}

test('where a compaction begins is told with whose ratio is in force, and for nothing fixed', async () => {
  expect(await linesFor('trigger: 0.8\ntarget: 0.5\n', 'gpt-4o')).toEqual([
    'window   32,768 tokens, total; source: table (the built-in table)',
    "reserve  4,096 tokens for the reply (window.output_reserve); a request's own limit takes its place",
    'budget   28,672 tokens',
    "ratio    1 of the model's tokens for one of ours, by o200k_base (that of the family OpenAI; the first answers take its place)",
    'begins   when a prompt exceeds 22,937 tokens (trigger: 0.8 of what is not fixed; the figure is for nothing fixed)',
    'ends     at 14,336 tokens (target: 0.5 of what is not fixed; the figure is for nothing fixed)',
  ])
  // What fills the budget by our count fills it by the model's, however both are rounded.
  const unknown = await linesFor('', 'nobody-knows')
  expect(unknown).toContain(
    "begins   when a prompt exceeds 28,672 tokens of the model's, 24,932 of ours (trigger: 1, when it does not fit)",
  )
  expect(unknown.join()).toContain('(a guess: the name tells no family; the first answers take its place)')
  const own = await linesFor('window: {ratio: 1.3, encoding: cl100k_base}\n', 'gpt-4o')
  expect(own.join()).toContain('by cl100k_base (window.ratio of the profile;')
})

test('a pass that begins before the trigger, and what else makes a compaction, is told', async () => {
  const more = 'every: {turns: 5}\nlimit: {messages: 1500}\nwindow: {output_reserve: 30000}\n'
  const lines = await linesFor(`clear: {at: 0.5}\n${more}`, 'gpt-4o')
  expect(lines).toContain(
    "reserve  8,192 tokens for the reply (a quarter of the window; window.output_reserve is more); a request's own limit takes its place",
  )
  expect(lines).toContain(
    'begins   when a prompt exceeds 12,288 tokens (the lowest "at" of its passes, with nothing fixed)',
  )
  expect(lines).toContain('also     every 5 turns, with more than 1,500 messages')
  expect((await linesFor('trigger: off\n', 'gpt-4o')).at(-1)).toBe(
    'begins   never (trigger: off): only what the upstream refuses is made smaller',
  )
})

test('an archive that cannot be written is a warning: conversations go on without it', async () => {
  const files = { 'foldgate.yaml': 'archive: {dir: notes.txt/kept}\n', 'notes.txt': '' }
  const { lines, exitCode } = await check(files)
  const trouble = 'archive.dir: nothing can be written in CWD/notes.txt/kept (ENOTDIR)'
  expect([exitCode, lines[3]]).toEqual([0, expect.stringContaining(`warning: ${trouble}`)])
  expect((await check({ 'foldgate.yaml': 'archive: {dir: kept}\n' })).text).not.toContain('warning')
})

test('it warns of upstreams that get no key, which a setting that says so ends', async () => {
  const url = 'https://cheap.example/v1'
  const upstreams = {
    bare: { url },
    keyed: { url, api_key_env: 'KEY' },
    headed: { url, headers: { 'x-api-key': 'PLANTED' } },
    forwarding: { url, forward_client_key: true },
    open: { url, forward_client_key: false },
  }
  const files = { 'foldgate.yaml': JSON.stringify({ upstreams }) }
  const { warnings, exitCode } = await check(files, null, { KEY: 'PLANTED' })
  expect([exitCode, ...warnings]).toEqual([
    0,
    'warning: the upstream "bare" gets no key, since the client\'s goes to the default upstream only: write into upstreams.bare api_key_env: NAME or api_key_file: FILE, forward_client_key: true if it may have the client\'s, forward_client_key: false if it needs none',
  ])
})

// FOLDGATE_UPSTREAM_URL was set, and requests went to OpenAI: nothing said that no such variable is read.
test('it warns of variables that nearly are its own, without their values', async () => {
  const env = {
    FOLDGATE_UPSTREAM_URL: 'http://PLANTED',
    FOLDGATE_BASE_URL: 'http://PLANTED',
    FOLDGATE_LOGLEVEL: 'debug',
    FOLDGATE_LOG_LEVEL: 'info',
    // A key that the settings name, and what Kubernetes says of a Service of our name.
    FOLDGATE_STORES: 'PLANTED',
    FOLDGATE_SERVICE_HOST: '10.0.0.1',
    FOLDGATE_SERVICE_PORT: '80',
    FOLDGATE_PORT_80_TCP_PORT: '80',
    FOLDGATE_PORT: 'tcp://10.0.0.1:80',
    FOLDGATE_KEY: 'PLANTED',
  }
  const yaml = 'upstreams: {default: {api_key_env: FOLDGATE_STORES}}\n'
  const { text, warnings } = await check({ 'foldgate.yaml': yaml }, null, env)
  expect(warnings).toEqual([
    "warning: the variable FOLDGATE_BASE_URL is none of Foldgate's: did you mean FOLDGATE_UPSTREAM?",
    "warning: the variable FOLDGATE_LOGLEVEL is none of Foldgate's: did you mean FOLDGATE_LOG_LEVEL?",
    "warning: the variable FOLDGATE_UPSTREAM_URL is none of Foldgate's: did you mean FOLDGATE_UPSTREAM?",
  ])
  expect(text).not.toContain('PLANTED')
})
