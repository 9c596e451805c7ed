import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkConfiguration } from '../../src/config/check.ts'
import { temporaryFolder } from './temporary-folder.ts'

const builtInDirectory = join(import.meta.dirname, '../../profiles')

const resolveWindow = () => ({ tokens: 32_768, kind: 'total', source: 'table' })

async function check(files: Readonly<Record<string, string>>, model: string | null = null) {
  const cwd = await temporaryFolder(files)
  const result = await checkConfiguration({ cwd, flags: {}, env: {}, builtInDirectory, model, resolveWindow })
  return { ...result, text: result.text.replaceAll(cwd, 'CWD') }
}

test('valid settings and profiles are ok', async () => {
  expect(await check({ 'foldgate.yaml': 'port: 80\n', 'profiles/mine.yaml': '' })).toEqual({
    text: 'ok: settings from CWD/foldgate.yaml\nprofiles: default, mine, small-local',
    exitCode: 0,
  })
})

test('the problems of settings and profiles are told together, one a line', async () => {
  const files = {
    'foldgate.yaml': 'prot: 80\nupstreams: {cheap: {}}\n',
    'profiles/mine.yaml': 'upstream: cheap\nwindow:\n  tokns: 3\n',
  }
  expect(await check(files)).toEqual({
    text: [
      'foldgate.yaml:1:1: unknown key "prot" — did you mean "port"?',
      'foldgate.yaml:2:13: "upstreams.cheap.url" is missing — add the address, such as url: https://host/v1',
      'profiles/mine.yaml:3:3: unknown key "tokns" in "window" — did you mean "tokens"?',
      '3 problems',
    ].join('\n'),
    exitCode: 1,
  })
})

test('with a model it says which profile and window the model gets, and why', async () => {
  const files = {
    'profiles/local.yaml': 'models: ["qwen*"]\ntrigger: 20000\n',
    'profiles/agent.yaml': 'headers: {x-agent: explorer}\n',
    'profiles/elsewhere.yaml': 'headers: {x-agent: other}\nmodels: [gpt*]\n',
  }
  const { text, exitCode } = await check(files, 'qwen3:8b')
  expect(exitCode).toBe(0)
  expect(text.split('\n').slice(2)).toEqual([
    '',
    'model    qwen3:8b',
    'profile  local, from profiles/local.yaml',
    'because  the model matches "qwen*", and no other profile matches more specifically',
    'window   32768 tokens, total; source: table (the built-in table)',
    'strides  from 20000 tokens down to 14000 tokens',
    'summary  none: recaps are made without a model and cost nothing',
    'note     requests with x-agent: explorer may get the profile agent',
  ])
})

test('an archive that cannot be written is a warning: conversations go on without it', async () => {
  const files = { 'foldgate.yaml': 'archive: {dir: notes.txt/kept}\n', 'notes.txt': '' }
  const { text, exitCode } = await check(files)
  expect(exitCode).toBe(0)
  expect(text).toMatch(
    /^ok: .*\n.*\nwarning: archive\.dir: nothing can be written in CWD\/notes\.txt\/kept \(ENOTDIR\)/,
  )
  expect((await check({ 'foldgate.yaml': 'archive: {dir: kept}\n' })).text).not.toContain('warning')
})
