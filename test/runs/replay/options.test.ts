import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../config/temporary-folder.ts'
import { readOptions } from './options.ts'

const folderOf = () => temporaryFolder({ 'agents.jsonl': '\n', 'chats.jsonl': '\n', 'notes.txt': '' })

// `--window 8192` matched no configuration: nothing was replayed, and the run ended with "0 failures".
describe('a filter that leaves nothing to replay is refused, with what there is', () => {
  test.each([
    ['--window', '8192', 'No replay has the window 8192; there are 8000, 16000, 32000.'],
    ['--window', '8k', 'No replay has the window 8k; there are 8000, 16000, 32000.'],
    ['--window', '', 'No replay has the window ; there are 8000, 16000, 32000.'],
    ['--template', 'loose', 'No replay has the template loose; there are lenient, strict, auto.'],
    [
      '--dialect',
      'morse',
      'No replay has the dialect morse; there are chat-completions, responses, messages.',
    ],
    ['--points-max', 'all', '--points-max takes a whole number above 0.'],
    ['--workers', '0', '--workers takes a whole number above 0.'],
    ['--windows', '8000', expect.stringContaining("Unknown option '--windows'")],
  ])('%s %s', async (flag, value, problem) => {
    expect(readOptions([await folderOf(), flag, value])).toEqual(problem)
  })

  test('two that leave nothing together', async () => {
    const problem = 'No replay has the template auto for the window 16000.'
    expect(readOptions([await folderOf(), '--window', '16000', '--template', 'auto'])).toBe(problem)
  })

  test('an unknown file, a folder without recordings, one that is not there', async () => {
    const folder = await folderOf()
    const problem = `There are no recordings named other in ${folder}; there are agents.jsonl, chats.jsonl.`
    expect(readOptions([folder, '--file', 'other'])).toBe(problem)
    const empty = await temporaryFolder()
    expect(readOptions([empty])).toBe(`There are no recordings (*.jsonl) in ${empty}.`)
    expect(readOptions([`${empty}/none`])).toBe(`There are no recordings (*.jsonl) in ${empty}/none.`)
  })

  test('no folder, and two', async () => {
    expect(readOptions([])).toMatch(/^Name the folder/)
    expect(readOptions(['a', 'b'])).toMatch(/^One folder/)
  })
})

test('what matches is taken', async () => {
  const folder = await folderOf()
  expect(readOptions([folder, '--window', '8000', '--template', 'auto', '--file', 'agents'])).toEqual({
    run: { folder, file: 'agents', pointsMax: null, keepsBodies: false },
    bytesFile: null,
    filter: { window: '8000', template: 'auto', dialect: 'chat-completions' },
    workers: 2,
    json: false,
  })
})

test('what is refused, and recordings without a request, end the program with 1', async () => {
  const script = fileURLToPath(new URL('replay.ts', import.meta.url))
  const folder = await folderOf()
  const replay = (...args: string[]) =>
    spawnSync(process.execPath, [script, folder, ...args], {
      encoding: 'utf8',
      env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
    })
  const refused = replay('--window', '8192')
  expect([refused.status, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toMatch(/^No replay has the window 8192/)
  const empty = replay('--window', '8000', '--template', 'auto', '--workers', '1')
  expect(empty.status).toBe(1)
  expect(empty.stderr).toContain('hold no request')
})
