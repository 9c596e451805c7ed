import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../docs/pages.ts'
import { optionalPackages } from '../../src/optional-packages.ts'
import { lockIn, manifestIn, packageFolders, runtimePackages } from './lock-files.ts'
import { readDockerfile } from '../runs/image/dockerfile.ts'

const exact = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/

describe.each(packageFolders.map((folder) => [folder === '' ? 'the root' : folder, folder]))(
  'the package of %s',
  (_name, folder) => {
    test('asks for exact versions, and has a lock file that says the same', async () => {
      const { dependencies, devDependencies } = await manifestIn(folder)
      const { lockfileVersion, own, installed } = await lockIn(folder)
      expect(lockfileVersion).toBe(3)
      expect(own).toMatchObject({ dependencies, devDependencies })
      const versions = new Map(installed.map(([path, { version }]) => [path, version]))
      const asked = Object.entries({ ...dependencies, ...devDependencies })
      expect(asked.length).toBeGreaterThan(0)
      expect(asked.filter(([, version]) => !exact.test(version))).toEqual([])
      expect(asked.filter(([name, version]) => versions.get(`node_modules/${name}`) !== version)).toEqual([])
    })

    test('installs nothing but what the lock file has a checksum of, from the registry', async () => {
      const { installed } = await lockIn(folder)
      const here = installed.filter(([path]) => !otherPlatforms.test(path)).map(([, entry]) => entry)
      expect(here.filter(({ integrity = '' }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))).toEqual([])
      expect(here.filter(({ version, link }) => link || !exact.test(version.replace(/\+.*$/, '')))).toEqual(
        [],
      )
      const registry = 'https://registry.npmjs.org/'
      const sources = installed.flatMap(([, { resolved }]) => resolved ?? [])
      expect(sources.filter((source) => !source.startsWith(registry))).toEqual([])
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
    const permissive = new Set('MIT ISC Apache-2.0 BSD-2-Clause BSD-3-Clause 0BSD BlueOak-1.0.0'.split(' '))
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
  // Foldgate's own install runs none either, wherever it is installed: what is built is built before it is packed.
  const ofInstalls = /^(?:(?:pre|post)?(?:install|prepare|pack|publish)|prepublishOnly)$/
  expect(Object.entries(scripts).filter(([name]) => ofInstalls.test(name))).toEqual([
    ['prepack', 'npm run build'],
  ])
  const { installed } = await lockIn('')
  const scripted = installed.filter(([, { hasInstallScript, optional }]) => hasInstallScript && !optional)
  expect(scripted.map(([path, { dev }]) => [path, dev])).toEqual([['node_modules/node', true]])
})

test('other packages of the repository are installed without scripts', async () => {
  expect(await readFile(join(root, 'scripts/install-package.ts'), 'utf8')).toContain("'--ignore-scripts'")
  for (const folder of packageFolders.filter((each) => each !== ''))
    expect((await manifestIn(folder)).scripts).toEqual({})
})

// A tag is moved by whoever may push to it. An image that was built by one would run what they put there, and no
// reader of the Dockerfile could tell.
test('every stage of the image begins with a base that is pinned by digest, or with an earlier stage', async () => {
  const text = await readFile(join(root, 'Dockerfile'), 'utf8')
  const stages = readDockerfile(text)
  const names = new Set(stages.map(({ name }) => name))
  const bases = stages.map(({ base }) => base).filter((base) => !names.has(base))
  expect(bases.length).toBeGreaterThan(0)
  for (const base of bases) expect(base).toMatch(/^[\w./-]+:\d+\.\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/)
  // One base: what was tested in one stage is what runs in another.
  expect(new Set(bases).size).toBe(1)
  // A syntax line names a builder's image, which would be pulled by its tag.
  expect(text).not.toMatch(/^#\s*syntax\s*=/im)
})

test('and its Node is the one that the tests run on', async () => {
  const [stage] = readDockerfile(await readFile(join(root, 'Dockerfile'), 'utf8'))
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const [, version] = /^node:([\d.]+)/.exec(stage?.base ?? '') ?? []
  expect(manifest).toHaveProperty('devDependencies.node', version)
})

/** What opens a connection, or loads what does. */
const connecting =
  /\bfrom '(?:undici|node:(?:https?|http2|net|tls|dgram|dns)[^']*)'|\bimport\('(?:undici|node:|openai|@opentelemetry\/exporter)|\bfetch\(|\bnew WebSocket\b/

/** Who does, and to whom. */
const known: Readonly<Record<string, string>> = {
  'commands/command.ts': '`foldgate health`, `status` and `run --attach`, to a Foldgate of its user',
  'commands/demo/http-client.ts': '`foldgate demo`, to itself',
  'commands/demo/demo-upstream.ts': 'a listener of `foldgate demo`',
  'server/node-server.ts': 'a listener',
  'storage/redis-connection.ts': 'the store in the settings',
  'storage/redis-store.ts': 'the store in the settings',
  'telemetry/tracing/tracing.ts': 'the collector that OTEL_… variables name',
  'commands/run/running-foldgate.ts':
    'to a Foldgate of its user; where the port of its clients is taken, to what has it',
  'upstream/address.ts': 'none: it reads addresses',
  'upstream/pools.ts': 'the upstreams in the settings',
  'upstream/upstreams.ts': 'none itself: it knows errors of connections',
}

test('nothing in the source opens a connection but to upstreams, store and collector of the settings', async () => {
  const names = await readdir(join(root, 'src'), { recursive: true })
  const found: string[] = []
  for (const name of names.filter((each) => each.endsWith('.ts'))) {
    const text = await readFile(join(root, 'src', name), 'utf8')
    const lines = text.split('\n').filter((line) => !line.startsWith('import type '))
    if (lines.some((line) => connecting.test(line))) found.push(name)
  }
  expect(found.filter((name) => known[name] === undefined)).toEqual([])
})
