import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkConfiguration } from '../../src/commands/check.ts'
import { readProfileFiles } from '../../src/config/profile-files.ts'
import { temporaryFolder } from '../config/temporary-folder.ts'
import { root } from '../docs/pages.ts'
import { builtInDirectory, examplesDirectory } from './examples/example-stand.ts'

const files = (await readdir(examplesDirectory)).sort()
const names = files.map((file) => file.replace(/\.yaml$/, ''))

/** What `foldgate check` says where `--profiles` names this folder. */
async function checkFolder(profiles: string) {
  const cwd = await temporaryFolder()
  return checkConfiguration({
    flags: { profiles },
    env: {},
    cwd,
    builtInDirectory,
    model: 'gpt-4o',
    resolveWindow: () => ({ tokens: 128_000, kind: 'total', source: 'table' }),
  })
}

test('foldgate check finds the examples valid where it is pointed at their folder', async () => {
  const { text, exitCode } = await checkFolder(examplesDirectory)
  expect(exitCode).toBe(0)
  const [, listed = ''] = /^profiles: (.*)$/m.exec(text) ?? []
  expect(listed.split(', ')).toEqual(['default', 'small-local', ...names].sort())
  // They name no models, so that even then no request gets one that did not ask for it.
  expect(text).toContain('profile  default,')
})

test('nobody gets them unasked: no folder of profiles is read deeper than itself', async () => {
  const directory = await temporaryFolder({ 'mine.yaml': '', 'examples/broken.yaml': 'trigger: [' })
  const { profiles, problems } = await readProfileFiles({ builtInDirectory, directory, upstreams: null })
  expect(problems).toEqual([])
  expect([...profiles.keys()].sort()).toEqual(['default', 'mine', 'small-local'])
})

test.each(files)('%s tells editors its schema, and people what differs from its policy', async (file) => {
  const text = await readFile(join(examplesDirectory, file), 'utf8')
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../profile.schema.json')
  expect(text).toContain('# Where it differs from the policy that it expresses:')
  expect(text.split('\n').filter((line) => line.length > 120)).toEqual([])
})

test('docs/profiles.md lists each of them', async () => {
  const page = await readFile(join(root, 'docs/profiles.md'), 'utf8')
  expect(files.filter((file) => !page.includes(`(../profiles/examples/${file})`))).toEqual([])
})

test('they go with the package and the image, where the built-in ones are', async () => {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  expect(manifest).toMatchObject({ files: expect.arrayContaining(['profiles']) })
  expect(await readFile(join(root, 'Dockerfile'), 'utf8')).toContain('\nCOPY profiles profiles\n')
})
