import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { delimiter, dirname, join } from 'node:path'
import { existsSync } from 'node:fs'
import { runCommand, startCommand } from '../../support/run-command.ts'
import type { Steps } from '../../support/steps.ts'
import type { Installed } from './installed.ts'
import { untilSaid } from './until-said.ts'

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
      const output = await untilSaid(running, /records are kept in memory, and end/)
      const tookMs = performance.now() - beganMs
      assert.match(output, /listens on http:\/\/127\.0\.0\.1:\d+\/v1/)
      assert.match(output, /install it beside it, by npm install @redis\/client@\d/)
      assert.match(output, /traces are not sent.*npm install @opentelemetry\/api@\d/)
      return `${Math.round(tookMs)} ms after it was started`
    } finally {
      running.child.kill('SIGKILL')
      await running.ended
    }
  })

  const old = olderNode(env['PATH'] ?? '')
  if (old === null) steps.unseen('what it says on an older Node (there is none on PATH)')
  else {
    await steps.step(`on Node ${old.version} it says in one line what it needs`, () => {
      const main = join(cwd, 'node_modules/foldgate/dist/main.js')
      const { status, stderr, stdout } = spawnSync(old.path, [main], { encoding: 'utf8' })
      assert.deepEqual([status, stdout], [1, ''])
      assert.equal(stderr, `foldgate needs Node 22.19 or later; this is Node ${old.version}.\n`)
    })
  }
}

// --- internal ---

/** A Node of this machine that Foldgate does not run on: the one that npm scripts are not run by. */
function olderNode(path: string): { readonly path: string; readonly version: string } | null {
  for (const folder of path.split(delimiter)) {
    const program = join(folder, 'node')
    if (folder === dirname(process.execPath) || !existsSync(program)) continue
    const version = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1)
    const [major = 0] = version.split('.').map(Number)
    if (major >= 14 && major < 22) return { path: program, version }
  }
  return null
}
