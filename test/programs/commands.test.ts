import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { delimiter, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { prose, round, system, user } from '../compaction/sending.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { longRun } from '../support/conversations.ts'
import { eventually } from '../support/eventually.ts'
import { exactUpstream } from '../support/exact-upstream.ts'
import { chatOf, postChat } from '../support/post-chat.ts'
import { output, serve } from './program.ts'

const root = join(import.meta.dirname, '../..')

async function refusal(args: readonly string[], cwd: string, env = {}): Promise<string> {
  const { code, stdout, stderr } = await output(args, { cwd, env })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).not.toMatch(/^\s+at /m)
  return stderr
}

describe('what is wrong stops the start, every problem at once', () => {
  test('settings and profiles, with file, line and a suggestion; check and explain say the same', async () => {
    const cwd = await temporaryFolder({
      'foldgate.yaml': 'port: many\nupstreems: {}\nlimits: {body_mb: -1}\n',
      'profiles/mine.yaml': 'trigger: 7x\nobsreve: true\n',
      'body.json': '{}',
    })
    for (const command of [[], ['check'], ['explain', 'body.json']]) {
      const problems = (await refusal(command, cwd)).trim().split('\n')
      for (const part of [
        /foldgate\.yaml:1:\d+: .*port/,
        /foldgate\.yaml:2:\d+: .*did you mean "upstreams"/,
        /foldgate\.yaml:3:\d+: .*body_mb/,
        /mine\.yaml:1:\d+: .*trigger/,
        /mine\.yaml:2:\d+: .*did you mean "observe"/,
      ])
        expect(problems.filter((problem) => part.test(problem))).toHaveLength(1)
    }
  })

  test.each<[string[], string, Record<string, string>?]>([
    [['--upstream', 'no address', '--prot', '1'], 'did you mean --port', { FOLDGATE_PORT: '99999' }],
    [['sevre'], 'serve'],
    [['demo', '--dialect', 'respones'], 'did you mean "responses"?'],
    [['--config', 'nowhere.yaml'], 'nowhere.yaml'],
    [['--upstream', 'http://user:PLANTED@127.0.0.1:9/v1'], '--upstream: must be an address without '],
  ])('%j is refused with what was wrong', async (args, part, env) => {
    const told = await refusal(args, await temporaryFolder({}), env)
    expect(told).toContain(part)
    expect(told).not.toContain('PLANTED')
  })
})

test('foldgate check is content with nothing; --model says which profile and window a model gets, and why', async () => {
  const cwd = await temporaryFolder({ 'profiles/mine.yaml': 'models: ["mine-*"]\nwindow: {tokens: 9000}\n' })
  const bare = await output(['check'], { cwd })
  expect([bare.code, bare.stderr]).toEqual([0, ''])
  expect(bare.stdout).toMatch(/^profile +mine: window 9,000 .*beyond 6,750/m)
  const known = await output(['check', '--model', 'gpt-4o'], { cwd })
  expect([known.code, known.stdout]).toEqual([
    0,
    expect.stringMatching(/^profile +default[^]*128,000[^]*table/m),
  ])
  const mine = await output(['check', '--model', 'mine-7b'], { cwd })
  expect(mine.stdout).toMatch(/^begins +when a prompt exceeds 6,750 tokens of the model's, 5,869 of ours/m)
  expect(mine.stdout).toMatch(/^ratio +1\.15 of the model's tokens for one of ours, .*a guess/m)
})

test('a small heap is told at the start, and served with', async () => {
  const env = { NODE_OPTIONS: '--max-old-space-size=256' }
  const foldgate = await serve(['--store', 'memory:'], { cwd: await temporaryFolder({}), env })
  await foldgate.said(/limits\.bytes_in_flight_mb \(512\).*give it more heap/)
  expect((await fetch(`${foldgate.origin}/healthz`)).status).toBe(200)
})

test('foldgate health is well where a Foldgate answers, and says what to look at where none does', async () => {
  const cwd = await temporaryFolder({})
  const foldgate = await serve(['--upstream', 'http://127.0.0.1:9/v1'], { cwd })
  const well = await output(['health'], { cwd, env: { FOLDGATE_PORT: foldgate.port } })
  expect(well).toEqual({ code: 0, stdout: 'ok\n', stderr: '' })
  foldgate.child.kill('SIGKILL')
  await foldgate.ended
  expect(await refusal(['health', '--port', foldgate.port], cwd)).toContain('--port')
})

test('--version is the package’s, --help names every command and flag', async () => {
  const [, declared] = /"version": "([^"]+)"/.exec(readFileSync(join(root, 'package.json'), 'utf8')) ?? []
  const cwd = await temporaryFolder({ 'foldgate.yaml': 'broken: [' })
  expect(await output(['--version'], { cwd })).toEqual({ code: 0, stdout: `${declared}\n`, stderr: '' })
  const { code, stdout } = await output(['--help'], { cwd })
  const words = 'serve demo check explain compare health purge --upstream --port --config --log-level'.split(
    ' ',
  )
  expect([code, words.filter((word) => !stdout.includes(word))]).toEqual([0, []])
})

/** A Node of this machine that is older than Foldgate needs; null where there is none. */
function olderNode(): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'node')
    if (folder === '' || folder.includes('node_modules') || !existsSync(path)) continue
    const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout
    const [major = 0, minor = 0] = version.trim().slice(1).split('.').map(Number)
    if (major > 0 && (major < 22 || (major === 22 && minor < 19))) return path
  }
  return null
}

const older = olderNode()

test.skipIf(older === null)('an older Node is told in one line what Foldgate needs', async () => {
  const source = readFileSync(join(root, 'src/main.ts'), 'utf8')
  const built = stripTypeScriptTypes(source).replaceAll(/(?<=')(\.[^']*)\.ts(?=')/g, '$1.js')
  const folder = await temporaryFolder({
    'package.json': '{"type":"module"}',
    'dist/main.js': built,
    // Whatever would be imported before the version is known fails on every Node.
    'dist/cli.js': 'this is no JavaScript',
  })
  const command = [older ?? '', join(folder, 'dist/main.js')] as const
  const { code, stdout, stderr } = await output(['--help'], { cwd: folder, command })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^foldgate needs Node 22\.19 or later; this is Node \d+\.\d+\.\d+\.\n$/)
})

describe('foldgate explain', () => {
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

  test('says what would become of a body, in a file or from standard input, and leaves nothing behind', async () => {
    const cwd = await temporaryFolder(files)
    const { code, stdout, stderr } = await output(['explain', 'body.json'], { cwd })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^model +gpt-4o$/m)
    expect(stdout).toMatch(/^would +be compacted to/m)
    expect(stdout).toMatch(/^begins +a compaction where the prompt exceeds 12,000 tokens$/m)
    expect(stdout).toMatch(/recap of 1–\d+/)
    expect(stdout).not.toContain('PLANTED')
    expect(stdout).not.toContain('\u001B')
    for (const args of [['explain'], ['explain', '-']]) {
      const piped = spawnSync(process.execPath, [join(root, 'src/main.ts'), ...args], {
        cwd,
        input: body,
        encoding: 'utf8',
        env: { HOME: cwd, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
      })
      expect([piped.status, piped.stdout]).toEqual([0, stdout])
    }
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

  test.each([
    ['nowhere.json', /^nowhere\.json: there is no such file/],
    ['broken.json', /^broken\.json: The body is no JSON object\. What is wanted is/],
    ['empty.json', /^empty\.json: The body has no messages/],
    ['body.json --profile romy', /^--profile: there is no profile "romy"; did you mean "roomy"/],
  ])('of %s it tells what is wrong', async (args, message) => {
    const cwd = await temporaryFolder({ ...files, 'broken.json': '{"messages":', 'empty.json': '{}' })
    expect(await refusal(['explain', ...args.split(' ')], cwd)).toMatch(message)
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
    const args = ['explain', 'body.json', '--store', 'sqlite:other.sqlite']
    const { code, stdout, stderr } = await output(args, { cwd })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^would +be compacted to/m)])
    expect(stderr).toMatch(
      /^warning: what was learnt of windows is not known: .*other\.sqlite is no database/,
    )
  })
})
