/**
 * Builds the image without Docker, and runs it.
 *
 *   node test/runs/image/image.ts [--mapped] [--keep]
 *
 * Reads the Dockerfile and follows it step by step, each stage in a folder of its own, from a clean copy of the
 * tracked files. Then looks at what the last stage holds and starts it by its entrypoint as a container would be: not
 * as root, its root read-only but for the volume, with no shell to be found, as process 1; a long conversation goes
 * through it, over a restart.
 *
 * Namespaces need root on Linux. Without them (or with --mapped) paths are moved into the folders instead, and what
 * cannot be seen that way is told. --keep leaves the folders there. Node and npm are this machine's, in place of the
 * base image's; packages come from the registry. Exits with 1 if a step failed.
 */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openSteps } from '../../support/run-command.ts'
import { buildImage, makeContext } from './build.ts'
import { closedRooms, closedRoomsTrouble, placesToStart, mappedRooms, setWritable } from './rooms.ts'
import { lookInside, noScriptRan } from './contents.ts'
import { readDockerfile } from './dockerfile.ts'
import { runImage } from './live.ts'

const repository = join(import.meta.dirname, '../../..')
const { values } = parseArgs({ options: { mapped: { type: 'boolean' }, keep: { type: 'boolean' } } })

process.exitCode = await run()

async function run(): Promise<number> {
  const steps = openSteps((text) => void process.stdout.write(text))
  const trouble = values.mapped === true ? '--mapped' : closedRoomsTrouble()
  const rooms = trouble === null ? closedRooms : mappedRooms
  const folder = await mkdtemp(join(tmpdir(), 'foldgate-image-'))
  // Whoever runs the image has to get there.
  await chmod(folder, 0o755)
  try {
    steps.heading(`Build steps, ${rooms.name}`)
    if (trouble !== null) {
      steps.unseen(`process 1, no shell, no capabilities, what is not in the image (${trouble})`)
      if (process.getuid?.() !== 0) steps.unseen('owners of files, another user (this is not run as root)')
    }
    const context = join(folder, 'context')
    const copied = await steps.step('the context, less what .dockerignore keeps out', async () => {
      return `${await makeContext(repository, context)} files`
    })
    if (copied === null) return steps.end()
    const stages = readDockerfile(await readFile(join(repository, 'Dockerfile'), 'utf8'))
    const image = await buildImage(stages, { context, folder, rooms, steps })
    if (image === null) return steps.end()
    const stage = join(folder, 'stage-0/build')
    await steps.step('no install script ran', () => noScriptRan(stage))

    steps.heading('What is in the image')
    if (rooms.isClosed) await placesToStart(image.root)
    await lookInside(image, steps)

    steps.heading('The image as a container')
    if (!rooms.isClosed) await setWritable(join(image.root, image.workdir), false)
    await runImage(image, rooms, folder, steps)
    if (!rooms.isClosed) await setWritable(join(image.root, image.workdir), true)
    return steps.end()
  } finally {
    if (values.keep === true) process.stdout.write(`The folders are in ${folder}\n`)
    else await rm(folder, { recursive: true, force: true })
  }
}
