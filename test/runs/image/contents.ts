import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { lockIn, runtimePackages } from '../../supply-chain/lock-files.ts'
import { type Steps, filesIn } from '../../support/run-command.ts'
import type { Image } from './build.ts'

/** Looks at what is in the image: no more than what Foldgate needs to run. */
export async function lookInside(image: Image, steps: Steps): Promise<void> {
  const app = join(image.root, image.workdir)
  const files = await filesIn(app)
  const comesAlong = runtimePackages(await lockIn(''), { withPeers: true })

  await steps.step(
    'holds the packages of the lock file that run with it, the optional too, and no other',
    async () => {
      const wanted = comesAlong.map(([path, { version }]) => `${path}@${version}`)
      const found: string[] = []
      for (const path of files.filter(isPackage)) {
        const { version } = packageSchema.parse(JSON.parse(await readFile(join(app, path), 'utf8')))
        found.push(`${path.slice(0, -'/package.json'.length)}@${version}`)
      }
      assert.deepEqual(found.toSorted(), wanted.toSorted())
      return `${found.length} packages`
    },
  )

  await steps.step('holds no source, no test and no tool of Foldgate’s', () => {
    const own = files.filter((path) => !path.startsWith('node_modules/'))
    none(own.filter((path) => /(?<!\.d)\.[cm]?ts$/.test(path)))
    const folders = [...new Set(own.map((path) => path.split('/')[0] ?? ''))].toSorted()
    assert.deepEqual(folders, ['LICENSE', 'NOTICE', 'dist', 'package.json', 'profiles'])
    return `${own.length} files`
  })

  await steps.step('holds no package manager and nothing that was compiled for a machine', async () => {
    const left = await filesIn(join(image.root, 'usr/local'))
    none(left.filter((path) => path !== 'bin/node'))
    const all = [...files, ...(await filesIn(join(image.root, 'opt')))]
    none(all.filter((path) => /\.(?:node|so|dylib|dll|exe|wasm)$/.test(path)))
  })

  await steps.step('lets its user write nothing but the volume', async () => {
    const loose: string[] = []
    for (const path of ['.', ...files]) {
      const { mode, uid } = await stat(join(app, path))
      if (uid === image.user || (mode & 0o002) !== 0) loose.push(path)
    }
    if (process.getuid?.() === 0) assert.deepEqual(loose, [])
    for (const volume of image.volumes) {
      const { mode, uid, gid } = await stat(join(image.root, volume))
      assert.equal(mode & 0o777, 0o700)
      if (process.getuid?.() === 0) assert.deepEqual([uid, gid], [image.user, image.group])
    }
  })

  await steps.step('its size without the base image', async () => {
    let bytes = 0
    for (const path of files) bytes += (await stat(join(app, path))).size
    return `${(bytes / 1e6).toFixed(1)} MB in ${files.length} files`
  })
}

/** The build stage's packages are there without any script of theirs having run. */
export async function noScriptRan(stage: string): Promise<string> {
  const lock = lockSchema.parse(JSON.parse(await readFile(join(stage, 'package-lock.json'), 'utf8')))
  const scripted = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  none(scripted.filter(([, { dev, optional }]) => !dev && !optional))
  // Its script is what makes this file.
  assert.ok(existsSync(join(stage, 'node_modules/node/package.json')))
  assert.ok(!existsSync(join(stage, 'node_modules/node/bin/node')))
  return `${scripted.length} package has one, for development`
}

const none = (found: readonly unknown[]): void => assert.deepEqual(found, [])

const isPackage = (path: string): boolean =>
  /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path)

const packageSchema = z.looseObject({ version: z.string() })

const flag = z.boolean().default(false)
const entry = z.looseObject({ dev: flag, optional: flag, hasInstallScript: flag })
const lockSchema = z.looseObject({ packages: z.record(z.string(), entry) })
