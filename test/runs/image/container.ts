import { mkdir, stat, chown } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Running } from '../../support/run-command.ts'
import type { Image } from './build.ts'
import type { Rooms } from './rooms.ts'

/** A container of the image, as far as one is without Docker. */
export type Container = {
  readonly running: Running
  /** What a client takes as its base URL. */
  readonly url: string
  /** Runs another command beside it, as its probe is. */
  readonly also: (
    words: readonly string[],
  ) => Promise<{ readonly code: number | string; readonly output: string }>
  /** Asks it to end, as the end of a container does; resolves with its exit code. */
  readonly stop: () => Promise<number | string>
}

/** Starts the image by its entrypoint, with these variables, and waits until it listens. */
export async function startContainer(
  image: Image,
  rooms: Rooms,
  env: Readonly<Record<string, string>>,
  volumes: ReadonlyMap<string, string>,
): Promise<Container> {
  const { root, workdir, user, group } = image
  const around = { workdir, env: { ...image.env, ...env }, user, group, volumes }
  const running = rooms.start(root, { ...around, words: image.entrypoint })
  let isOver = false
  void running.ended.then(() => {
    isOver = true
  })
  while (!running.output().includes(' listens on ')) {
    if (isOver) throw new Error(`it did not start:\n${running.output()}`)
    await setTimeout(20)
  }
  return {
    running,
    url: `http://127.0.0.1:${env['FOLDGATE_PORT']}/v1`,
    also: async (words) => {
      const beside = rooms.start(root, { ...around, words })
      return { code: await beside.ended, output: beside.output() }
    },
    stop: async () => {
      process.kill(await running.pid(), 'SIGTERM')
      return running.ended
    },
  }
}

/** Makes a volume as Docker does: empty, with the owner and mode of what lies there in the image. */
export async function makeVolume(image: Image, place: string, folder: string): Promise<void> {
  const { mode, uid, gid } = await stat(join(image.root, place))
  // What is above it is everybody's to pass.
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder, { mode: mode & 0o777 })
  if (process.getuid?.() === 0) await chown(folder, uid, gid)
}
