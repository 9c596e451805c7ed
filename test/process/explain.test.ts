import { spawnSync } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { prose, round, system, user } from '../compaction/sending.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { output } from './program.ts'

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
