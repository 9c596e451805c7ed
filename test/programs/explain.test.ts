import { spawnSync } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { prose, round, system, user } from '../compaction/sending.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { longRun } from '../support/conversations.ts'
import { eventually } from '../support/eventually.ts'
import { exactUpstream } from '../support/exact-upstream.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { output, serve } from './program.ts'

const main = join(import.meta.dirname, '../../src/main.ts')

const wordy = { text: prose('what is asked of the tool', 900) }
const steps = Array.from({ length: 40 }, (_, at) =>
  round(`step${at}`, prose('result', 1200), 'read_file', wordy),
).flat()

const body = JSON.stringify({
  model: 'gpt-4o',
  messages: [system('Be brief.'), user('The task.'), ...steps, user('Go on, PLANTED.')],
})

const files = {
  'body.json': body,
  'profiles/default.yaml': 'window: {tokens: 16000}\n',
  'profiles/roomy.yaml': 'window: {tokens: 1000000}\n',
}

test('foldgate explain says what would become of a body, and leaves nothing behind', async () => {
  const cwd = await temporaryFolder(files)
  const { code, stdout, stderr } = await output(['explain', 'body.json'], { cwd })
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^model +gpt-4o$/m)
  expect(stdout).toMatch(/^would +be compacted to/m)
  expect(stdout).toMatch(/^begins +a compaction where the prompt exceeds 11,904 tokens$/m)
  expect(stdout).toMatch(/recap of 1–\d+/)
  expect(stdout).not.toContain('PLANTED')
  expect(stdout).not.toContain('\u001B')
  expect(new Set(await readdir(cwd))).toEqual(new Set(['body.json', 'profiles']))
  expect(await readFile(join(cwd, 'body.json'), 'utf8')).toBe(body)
})

test('--json has the body that would be sent, --profile and --model ask about others', async () => {
  const cwd = await temporaryFolder(files)
  const roomy = await output(['explain', 'body.json', '--json', '--profile', 'roomy'], { cwd })
  expect(roomy.code).toBe(0)
  expect(roomy.stdout.endsWith(`,"body":${body}}\n`)).toBe(true)
  expect(JSON.parse(roomy.stdout)).toMatchObject({
    profile: { name: 'roomy' },
    window: { tokens: 1_000_000, source: 'config' },
    ratio_source: 'family',
    compaction_begins_at: { tokens: 995_904, model_tokens: 995_904 },
    would: { action: 'relayed' },
  })
  const other = await output(['explain', '--model', 'gpt-4.1', '--json', 'body.json'], { cwd })
  expect(JSON.parse(other.stdout)).toMatchObject({ model: 'gpt-4.1', would: { action: 'compacted' } })
})

test.each([[['explain']], [['explain', '-']]])('%j reads standard input', async (args) => {
  const cwd = await temporaryFolder({ 'profiles/default.yaml': files['profiles/default.yaml'] })
  const { status, stdout } = spawnSync(process.execPath, [main, ...args], {
    cwd,
    input: body,
    encoding: 'utf8',
    env: { HOME: cwd, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
  })
  expect(status).toBe(0)
  expect(stdout).toMatch(/^would +be compacted to/m)
})

test.each([
  [['explain', 'nowhere.json'], /^nowhere\.json: there is no such file/],
  [['explain', 'broken.json'], /^broken\.json: The body is no JSON object\. What is wanted is/],
  [['explain', 'empty.json'], /^empty\.json: The body has no messages/],
  [
    ['explain', 'body.json', '--profile', 'romy'],
    /^--profile: there is no profile "romy"; did you mean "roomy"/,
  ],
])('%j is told what is wrong', async (args, message) => {
  const cwd = await temporaryFolder({ ...files, 'broken.json': '{"messages":', 'empty.json': '{}' })
  const { code, stdout, stderr } = await output(args, { cwd })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(message)
  expect(stderr).not.toMatch(/^\s+at /m)
})

test('settings and profiles that are wrong are told as at a start', async () => {
  const cwd = await temporaryFolder({ ...files, 'profiles/default.yaml': 'trigger: 7x\n' })
  const { code, stderr } = await output(['explain', 'body.json'], { cwd })
  expect(code).toBe(1)
  expect(stderr).toMatch(/default\.yaml:1:\d+: .*trigger/)
})

// It said "a guess" of a window that the Foldgate beside it had learnt from its upstream.
test('a window that a Foldgate on the same store has learnt is known: while that runs, with its source, and by check', async () => {
  const upstream = await exactUpstream(4_096)
  onTestFinished(() => upstream.close())
  const asked = chatOf(longRun(12, 7), { model: 'nobody-knows-it' })
  const cwd = await temporaryFolder({
    'foldgate.yaml': JSON.stringify({ upstreams: { default: { url: upstream.url } } }),
    'body.json': JSON.stringify(asked),
  })
  const before = await output(['explain', 'body.json'], { cwd })
  expect(before.stdout).toMatch(/^window +128,000 tokens for prompt and reply, from nowhere: a guess$/m)
  expect(await readdir(cwd)).not.toContain('.local')

  const foldgate = await serve([], { cwd })
  // Whose credential it was learnt with, explain cannot know.
  const reply = await postChat(foldgate.url, asked, { authorization: 'Bearer of-a-client' })
  expect([reply.status, reply.header('x-foldgate-action')]).toEqual([200, 'recovered'])
  await eventually(async () => {
    const { code, stdout, stderr } = await output(['explain', 'body.json'], { cwd })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^window +4,096 tokens for prompt and reply, from an overflow answer$/m)
    expect(stdout).toMatch(/^would +be compacted to/m)
  })
  const checked = await output(['check', '--model', 'nobody-knows-it'], { cwd })
  expect(checked.stdout).toContain('window   4,096 tokens, total; source: learnt (an overflow answer')
})

test('a store that cannot be read is no reason not to explain: it is told', async () => {
  const cwd = await temporaryFolder({ ...files, 'other.sqlite': 'no database at all, but long enough' })
  const { code, stdout, stderr } = await output(['explain', 'body.json', '--store', 'sqlite:other.sqlite'], {
    cwd,
  })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^would +be compacted to/m)
  expect(stderr).toMatch(/^warning: what was learnt of windows is not known: .*other\.sqlite is no database/)
})
