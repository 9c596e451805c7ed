import { rename, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { formatProblem, type Problem } from '../../src/config/problem.ts'
import { watchProfiles } from '../../src/config/watch-profiles.ts'
import type { Profile } from '../../src/profiles/schema.ts'
import { temporaryFolder } from './temporary-folder.ts'

const builtInDirectory = join(import.meta.dirname, '../../profiles')

async function watchFolder(files: Readonly<Record<string, string>>) {
  const directory = await temporaryFolder(files)
  const loads: ReadonlyMap<string, Profile>[] = []
  const problems: Problem[] = []
  const watching = watchProfiles({
    builtInDirectory,
    directory,
    shownDirectory: 'profiles',
    upstreams: new Set(['default']),
    quietMs: 20,
    onReload: (profiles) => loads.push(profiles),
    onProblems: (found) => problems.push(...found),
  })
  onTestFinished(watching.close)
  const observed = () => loads.at(-1)?.get('x')?.observe
  return { directory, watching, loads, problems, observed }
}

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 10 })

test('a profile that is written anew is read', async () => {
  const { directory, observed } = await watchFolder({ 'x.yaml': '' })
  await writeFile(join(directory, 'x.yaml'), 'observe: true')
  await eventually(() => expect(observed()).toBe(true))
})

test('editors that write beside and rename are seen, again and again', async () => {
  const { directory, observed } = await watchFolder({ 'x.yaml': '' })
  for (const value of [true, false, true]) {
    await writeFile(join(directory, '.x.yaml.tmp'), `observe: ${value}`)
    await rename(join(directory, '.x.yaml.tmp'), join(directory, 'x.yaml'))
    await eventually(() => expect(observed()).toBe(value))
  }
})

test('new and removed files are seen', async () => {
  const { directory, loads } = await watchFolder({ 'x.yaml': '' })
  await writeFile(join(directory, 'y.yaml'), '')
  await eventually(() => expect(loads.at(-1)?.has('y')).toBe(true))
  await unlink(join(directory, 'x.yaml'))
  await eventually(() => expect(loads.at(-1)?.has('x')).toBe(false))
})

test('an invalid change is told and not used; the next valid one is', async () => {
  const { directory, loads, problems, observed } = await watchFolder({ 'x.yaml': '' })
  await writeFile(join(directory, 'x.yaml'), 'obsreve: true')
  await eventually(() => expect(problems.length).toBeGreaterThan(0))
  expect(problems.map(formatProblem)[0]).toBe(
    'profiles/x.yaml:1:1: unknown key "obsreve" — did you mean "observe"?',
  )
  expect(loads.every((profiles) => profiles.get('x')?.observe === false)).toBe(true)
  await writeFile(join(directory, 'x.yaml'), 'observe: true')
  await eventually(() => expect(observed()).toBe(true))
})

test('a reload that is asked for reads at once', async () => {
  const { directory, watching, observed } = await watchFolder({})
  await writeFile(join(directory, 'x.yaml'), 'observe: true')
  await watching.reload()
  expect(observed()).toBe(true)
})

test('a folder that comes later is found by a reload, and watched from then on', async () => {
  const folder = await temporaryFolder()
  const directory = join(folder, 'profiles')
  const names: string[][] = []
  const watching = watchProfiles({
    builtInDirectory,
    directory,
    upstreams: new Set(['default']),
    quietMs: 20,
    onReload: (profiles) => names.push([...profiles.keys()]),
    onProblems: () => {},
  })
  onTestFinished(watching.close)
  await rename(await temporaryFolder({ 'x.yaml': '' }), directory)
  await watching.reload()
  expect(names.at(-1)).toContain('x')
  await writeFile(join(directory, 'y.yaml'), '')
  await eventually(() => expect(names.at(-1)).toContain('y'))
})

test('nothing is called once it is closed', async () => {
  const { directory, watching, loads, problems } = await watchFolder({ 'x.yaml': '' })
  const reload = watching.reload()
  watching.close()
  await rm(join(directory, 'x.yaml'))
  await reload
  expect([loads, problems]).toEqual([[], []])
})
