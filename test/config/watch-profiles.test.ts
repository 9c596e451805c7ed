import { mkdir, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { formatProblem, type Problem } from '../../src/config/problem.ts'
import { readProfileFiles } from '../../src/config/configuration.ts'
import { watchProfiles } from '../../src/config/watch-files.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { eventually } from '../support/eventually.ts'

const builtInDirectory = join(import.meta.dirname, '../../profiles')

const watchFolder = async (files: Readonly<Record<string, string>>) => watchAt(await temporaryFolder(files))

async function watchAt(directory: string) {
  const loads: ReadonlyMap<string, Profile>[] = []
  const problems: Problem[] = []
  const files = { builtInDirectory, directory, shownDirectory: 'profiles', upstreams: new Set(['default']) }
  const watching = watchProfiles({
    ...files,
    profiles: (await readProfileFiles(files)).profiles,
    quietMs: 20,
    lookMs: 30,
    onReload: (profiles) => loads.push(profiles),
    onProblems: (found) => problems.push(...found),
  })
  onTestFinished(watching.close)
  const observed = () => loads.at(-1)?.get('x')?.observe
  return { directory, watching, loads, problems, observed }
}

test('editors that write beside and rename are seen, again and again, and new and removed files', async () => {
  const { directory, observed, loads } = await watchFolder({ 'x.yaml': '' })
  for (const value of [true, false, true]) {
    await writeFile(join(directory, '.x.yaml.tmp'), `observe: ${value}`)
    await rename(join(directory, '.x.yaml.tmp'), join(directory, 'x.yaml'))
    await eventually(() => expect(observed()).toBe(value))
  }
  await writeFile(join(directory, 'y.yaml'), '')
  await eventually(() => expect(loads.at(-1)?.has('y')).toBe(true))
  await unlink(join(directory, 'x.yaml'))
  await eventually(() => expect(loads.at(-1)?.has('x')).toBe(false))
})

test('an invalid change is told and not used; the next valid one is', async () => {
  const { directory, loads, problems, observed } = await watchFolder({ 'x.yaml': '' })
  await writeFile(join(directory, 'x.yaml'), 'obsreve: true')
  await eventually(() => expect(problems.length).toBeGreaterThan(0))
  expect(problems[0]).toMatchObject({ message: expect.stringContaining('unknown key "obsreve"') })
  expect(loads.every((profiles) => profiles.get('x')?.observe === false)).toBe(true)
  await writeFile(join(directory, 'x.yaml'), 'observe: true')
  await eventually(() => expect(observed()).toBe(true))
})

// A watcher stays with the folder that it was given. Who started Foldgate before there was a folder of profiles,
// made it anew, or swapped a symbolic link as deployments do, waited for the new profiles in vain.
describe('the folder itself', () => {
  test('may come later, and is watched from then on', async () => {
    const directory = join(await temporaryFolder(), 'profiles')
    const { loads, problems, watching } = await watchAt(directory)
    await mkdir(directory)
    await writeFile(join(directory, 'x.yaml'), '')
    await eventually(() => expect(loads.at(-1)?.has('x')).toBe(true))
    await writeFile(join(directory, 'y.yaml'), '')
    // A reload that is asked for finds it at once.
    await watching.reload()
    expect(loads.at(-1)?.has('y')).toBe(true)
    expect(problems).toEqual([])
  })

  test('may be made anew, and is watched from then on', async () => {
    const directory = join(await temporaryFolder({ 'profiles/x.yaml': '' }), 'profiles')
    const { loads, problems, observed } = await watchAt(directory)
    await rm(directory, { recursive: true })
    await eventually(() => expect(problems.length).toBeGreaterThan(0))
    await mkdir(directory)
    await writeFile(join(directory, 'x.yaml'), 'observe: true')
    await eventually(() => expect(observed()).toBe(true))
    await writeFile(join(directory, 'y.yaml'), '')
    await eventually(() => expect(loads.at(-1)?.has('y')).toBe(true))
  })

  test('that goes is told once, and its profiles stay', async () => {
    const folder = await temporaryFolder({ 'profiles/x.yaml': '' })
    const directory = join(folder, 'profiles')
    const { loads, problems, watching } = await watchAt(directory)
    await rename(directory, join(folder, 'elsewhere'))
    await eventually(() => expect(problems.length).toBe(1))
    expect(problems.map(formatProblem)).toEqual([
      'profiles: the folder of profiles does not exist — create it, or name another',
    ])
    await writeFile(join(folder, 'elsewhere', 'y.yaml'), '')
    await setTimeout(150)
    expect([loads.length, problems.length]).toEqual([0, 1])
    await watching.reload()
    expect([loads.length, problems.length]).toEqual([0, 2])
  })

  test('may be another one behind a symbolic link', async () => {
    const folder = await temporaryFolder({ 'one/x.yaml': '', 'two/x.yaml': 'observe: true' })
    const directory = join(folder, 'profiles')
    await symlink(join(folder, 'one'), directory)
    const { observed, problems } = await watchAt(directory)
    await symlink(join(folder, 'two'), join(folder, 'next'))
    await rename(join(folder, 'next'), directory)
    await eventually(() => expect(observed()).toBe(true))
    await writeFile(join(folder, 'two', 'x.yaml'), 'observe: false')
    await eventually(() => expect(observed()).toBe(false))
    expect(problems).toEqual([])
  })
})

test('nothing is called once it is closed', async () => {
  const { directory, watching, loads, problems } = await watchFolder({ 'x.yaml': '' })
  const reload = watching.reload()
  watching.close()
  await rm(join(directory, 'x.yaml'))
  await reload
  expect([loads, problems]).toEqual([[], []])
})
