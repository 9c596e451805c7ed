import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { existsSync } from 'node:fs'
import { copyTracked, filesIn, runCommand, type Steps, startCommand } from '../../support/run-command.ts'
import { manifestIn } from '../../supply-chain/lock-files.ts'

/** A folder of a user's, in which Foldgate is the only package. */
export type Installed = NonNullable<Awaited<ReturnType<typeof installPackage>>>

/** Packs a clean copy of the repository and installs it as its users do. Null where a step failed. */
export async function installPackage(repository: string, folder: string, steps: Steps) {
  const source = join(folder, 'source')
  const user = join(folder, 'user')
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`
  const env = { ...process.env, PATH }
  const { version }: { version: string } = JSON.parse(
    await readFile(join(repository, 'package.json'), 'utf8'),
  )
  const packed = await steps.step('npm ci and npm pack, in a clean copy', async () => {
    await copyTracked(repository, source)
    for (const word of ['ci', 'pack']) await runCommand('npm', [word], { cwd: source, env })
    const name = (await readdir(source)).find((path) => path.endsWith('.tgz')) ?? ''
    assert.equal(name, `foldgate-${version}.tgz`)
    return join(source, name)
  })
  if (packed === null) return null
  const done = await steps.step('npm install of it, in an empty folder', async () => {
    await mkdir(user)
    await writeFile(join(user, 'package.json'), '{"private": true}')
    await runCommand('npm', ['install', '--ignore-scripts', packed], { cwd: user, env })
    const own = await filesIn(join(user, 'node_modules/foldgate'))
    none(own.filter((path) => /^(?:src|test|bench|scripts)\/|\.[cm]?ts$/.test(path)))
    return `${own.length} files of its own`
  })
  if (done === null) return null
  await steps.step(`takes no more than ${SIZE_MB_MAX} MB of the disk, with all that it needs`, async () => {
    const modules = join(user, 'node_modules')
    let [blocks, bytes] = [0, 0]
    for (const path of await filesIn(modules)) {
      const told = await stat(join(modules, path))
      blocks += told.blocks
      bytes += told.size
    }
    const megabytes = (blocks * BLOCK_BYTES) / 2 ** 20
    assert.ok(megabytes <= SIZE_MB_MAX, `${megabytes.toFixed(1)} MB`)
    return `${megabytes.toFixed(1)} MB, of which ${(bytes / 2 ** 20).toFixed(1)} MB are content`
  })
  await steps.step('comes without what only some settings need', async () => {
    const present = await readdir(join(user, 'node_modules'))
    assert.ok(!present.includes('typescript'))
    const { peerDependencies } = await manifestIn('')
    // One of them is what the metrics need as well.
    const absent = Object.keys(peerDependencies).filter((name) => name !== '@opentelemetry/api')
    assert.ok(absent.length > 1)
    none(absent.filter((name) => existsSync(join(user, 'node_modules', name))))
  })
  const home = join(folder, 'home')
  await mkdir(home)
  return {
    folder: user,
    /** The clean copy of the repository that it was packed from, with its own packages. */
    checkout: source,
    /** What a user types: the path of its bin. */
    foldgate: join(user, 'node_modules/.bin/foldgate'),
    version,
    /** With the Node of this run first on `PATH`, and a home that was empty. */
    env: { PATH, HOME: home, TMPDIR: process.env['TMPDIR'] },
  }
}

/** What the installed program says and does before anybody talks to it. */
export async function tryProgram(installed: Installed, steps: Steps): Promise<void> {
  const { folder: cwd, foldgate, version, env } = installed

  await steps.step('npx foldgate --version', async () => {
    assert.equal(await runCommand('npx', ['foldgate', '--version'], { cwd, env }), `${version}\n`)
  })

  await steps.step('foldgate check', async () => {
    const told = await runCommand(foldgate, ['check', '--model', 'gpt-4o'], { cwd, env })
    assert.match(told, /128[,. ]?000/)
  })

  const beganMs = performance.now()
  await steps.step('listens, without a compiler; settings that need more say what to install', async () => {
    const args = ['--port', '0', '--admin-port', '0', '--store', 'redis://127.0.0.1:1']
    const running = startCommand(foldgate, args, { cwd, env: { ...env, OTEL_TRACES_EXPORTER: 'otlp' } })
    try {
      await running.said(/records are kept in memory, and end/)
      const tookMs = performance.now() - beganMs
      const output = running.output()
      assert.match(output, /listens on http:\/\/127\.0\.0\.1:\d+\/v1/)
      assert.match(output, /install it beside it, by npm install @redis\/client@\d/)
      assert.match(output, /traces are not sent.*npm install @opentelemetry\/api@\d/)
      return `${Math.round(tookMs)} ms after it was started`
    } finally {
      running.child.kill('SIGKILL')
      await running.ended
    }
  })
}

const none = (found: readonly string[]): void => assert.deepEqual(found, [])

/** By blocks of the disk, as `du` tells it. */
const SIZE_MB_MAX = 50

/** The unit of `stat`, wherever. */
const BLOCK_BYTES = 512
