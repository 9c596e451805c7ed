/**
 * The npm package as its users get it, from an empty folder to an agent that has done its work.
 *
 *   node test/runs/package/package.ts [--keep]
 *
 * Packs a clean copy of the tracked files, installs it into an empty folder and looks at what came: its size, that it
 * starts without a compiler, what it says of settings that need more. An agent does its work through
 * it, as its user would see it. Then runs every command of the README. --keep leaves the folder there. Exits with 1 if a step failed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openSteps } from '../../support/run-command.ts'
import { installPackage, tryProgram } from './installed.ts'
import { liveFirstMinutes } from './first-minutes.ts'
import { followReadme } from './readme.ts'

const repository = join(import.meta.dirname, '../../..')
const { values } = parseArgs({ options: { keep: { type: 'boolean' } } })

process.exitCode = await run()

async function run(): Promise<number> {
  const steps = openSteps((text) => void process.stdout.write(text))
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-package-'))
  try {
    steps.heading('Install')
    const installed = await installPackage(repository, folder, steps)
    if (installed === null) return steps.end()
    steps.heading('The program')
    await tryProgram(installed, steps)
    steps.heading('The first five minutes')
    await liveFirstMinutes(installed, steps)
    steps.heading('The README')
    await followReadme(installed, steps)
    return steps.end()
  } finally {
    if (values.keep === true) process.stdout.write(`The folder is ${folder}\n`)
    else await rm(folder, { recursive: true, force: true })
  }
}
