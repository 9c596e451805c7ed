import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../docs/pages.ts'
import { optionalPackages } from '../../src/optional-packages.ts'
import { lockIn, manifestIn, packageFolders, runtimePackages } from './lock-files.ts'

const exact = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/

describe.each(packageFolders.map((folder) => [folder === '' ? 'the root' : folder, folder]))(
  'the package of %s',
  (_name, folder) => {
    test('asks for exact versions', async () => {
      const { dependencies, devDependencies } = await manifestIn(folder)
      const asked = Object.entries({ ...dependencies, ...devDependencies })
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.filter(([, version]) => !exact.test(version))).toEqual([])
    })

    test('has a lock file that says the same', async () => {
      const { dependencies, devDependencies } = await manifestIn(folder)
      const { lockfileVersion, own, installed } = await lockIn(folder)
      expect(lockfileVersion).toBe(3)
      expect(own.dependencies).toEqual(dependencies)
      expect(own.devDependencies).toEqual(devDependencies)
      const versions = new Map(installed.map(([path, { version }]) => [path, version]))
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
        expect([name, versions.get(`node_modules/${name}`)]).toEqual([name, version])
      }
    })

    test('installs nothing but what the lock file has a checksum of, from the registry', async () => {
      const { installed } = await lockIn(folder)
      const loose = installed.filter(
        ([path, { integrity = '', version, link }]) =>
          !otherPlatforms.test(path) &&
          (link ||
            !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ||
            !exact.test(version.replace(/\+.*$/, ''))),
      )
      expect(loose).toEqual([])
      const elsewhere = installed.filter(
        ([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'),
      )
      expect(elsewhere).toEqual([])
    })
  },
)

/**
 * Optional builds of a clipboard for platforms on which the clients are not run: not every registry has them, and `npm ci`
 * wants them named all the same.
 */
const otherPlatforms = /^node_modules\/@teddyzhu\/clipboard-(?!linux-x64)/

describe('what comes with Foldgate', () => {
  test('has no install script, and is compiled for no machine', async () => {
    const runtime = runtimePackages(await lockIn(''), { withPeers: true })
    expect(runtime.length).toBeGreaterThan(10)
    expect(runtime.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([])
    expect(runtime.filter(([, entry]) => entry['os'] !== undefined || entry['cpu'] !== undefined)).toEqual([])
  })

  test('is under licences that ask for no more than that their text comes along', async () => {
    const permissive = new Set([
      'MIT',
      'ISC',
      'Apache-2.0',
      'BSD-2-Clause',
      'BSD-3-Clause',
      '0BSD',
      'BlueOak-1.0.0',
    ])
    const others = runtimePackages(await lockIn(''), { withPeers: true })
      .filter(([, { license }]) => !permissive.has(license))
      .map(([path, { license }]) => [path, license])
    expect(others).toEqual([])
  })
})

// Traces and Redis were a third of what everybody installed, for the few who use them.
test('what only some settings need is optional, and a message names it in the version that the tests run with', async () => {
  const { devDependencies, dependencies, peerDependencies, peerDependenciesMeta } = await manifestIn('')
  const named = Object.values(optionalPackages)
    .flat()
    .map((each) => each.split(/(?<=.)@/))
  expect(named.length).toBeGreaterThan(1)
  for (const [name = '', version = ''] of named) {
    expect([name, devDependencies[name], peerDependencies[name]]).toEqual([name, version, `^${version}`])
    expect(peerDependenciesMeta).toHaveProperty([name], { optional: true })
    expect(dependencies).not.toHaveProperty([name])
  }
  expect(new Set(Object.keys(peerDependencies))).toEqual(new Set(named.map(([name]) => name)))
})

test('only one package of all may run a script when it is installed, and that for development only', async () => {
  const { allowScripts, scripts } = await manifestIn('')
  expect(allowScripts).toEqual({ node: true })
  // Foldgate's own install runs none either, wherever it is installed.
  expect(
    Object.keys(scripts).filter((name) =>
      /^(?:(?:pre|post)?(?:install|prepare|pack|publish)|prepublishOnly)$/.test(name),
    ),
  ).toEqual([])
  const { installed } = await lockIn('')
  const scripted = installed.filter(([, { hasInstallScript, optional }]) => hasInstallScript && !optional)
  expect(scripted.map(([path, { dev }]) => [path, dev])).toEqual([['node_modules/node', true]])
})

test('other packages of the repository are installed without scripts', async () => {
  expect(await readFile(join(root, 'scripts/install-package.ts'), 'utf8')).toContain("'--ignore-scripts'")
  for (const folder of packageFolders.filter((each) => each !== '')) {
    const { scripts } = await manifestIn(folder)
    expect(scripts).toEqual({})
  }
})
