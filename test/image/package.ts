import assert from 'node:assert/strict'
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { cleanCopy } from './build.ts'
import { filesIn } from './contents.ts'
import { runCommand } from './run-command.ts'
import type { Steps } from './steps.ts'

/** Packs the npm package from a clean copy with the build that the image has, and installs it as its users do. */
export async function tryPackage(
  repository: string,
  dist: string,
  version: string,
  folder: string,
  steps: Steps,
): Promise<void> {
  const source = join(folder, 'package-source')
  const user = join(folder, 'package-user')
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  const packed = await steps.step('npm pack', async () => {
    await cleanCopy(repository, source)
    await cp(dist, join(source, 'dist'), { recursive: true })
    await runCommand('npm', ['pack', '--ignore-scripts'], { cwd: source, env })
    const name = (await readdir(source)).find((path) => path.endsWith('.tgz')) ?? ''
    assert.equal(name, `foldgate-${version}.tgz`)
    return name
  })
  if (packed === null) return
  const installed = await steps.step(
    'npm install --omit=dev --ignore-scripts, in a folder of its own',
    async () => {
      await mkdir(user)
      await writeFile(join(user, 'package.json'), '{"private": true}')
      await runCommand('npm', ['install', '--omit=dev', '--ignore-scripts', join(source, packed)], {
        cwd: user,
        env,
      })
      const files = await filesIn(join(user, 'node_modules/foldgate'))
      assert.deepEqual(
        files.filter((path) => /^(?:src|test|bench|scripts)\//.test(path)),
        [],
      )
      return `${files.length} files of its own`
    },
  )
  if (installed === null) return
  const foldgate = join(user, 'node_modules/.bin/foldgate')
  await steps.step('foldgate --version, by its bin', async () => {
    assert.equal(await runCommand(foldgate, ['--version'], { cwd: user, env }), `${version}\n`)
  })
  await steps.step('foldgate check', async () => {
    assert.match(
      await runCommand(foldgate, ['check', '--model', 'gpt-4o'], { cwd: user, env }),
      /128[,. ]?000/,
    )
  })
}
