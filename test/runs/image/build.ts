import { existsSync, realpathSync } from 'node:fs'
import { chmod, cp, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, delimiter, dirname, join, posix } from 'node:path'
import { type Steps, copyTracked } from '../../support/run-command.ts'
import { execForm, readIgnored, variablesOf, type Instruction, type Stage } from './dockerfile.ts'
import type { Rooms } from './rooms.ts'

/** An image as a folder, with what a container of it is started with. */
export type Image = {
  readonly root: string
  workdir: string
  readonly env: Record<string, string>
  user: number
  group: number
  readonly volumes: string[]
  entrypoint: readonly string[]
  /** What tells whether it is well. */
  probe: readonly string[]
  port: number
}

export type BuildOptions = {
  /** The files that the build may see. */
  readonly context: string
  /** Where the stages are made, each in a folder of its own. */
  readonly folder: string
  readonly rooms: Rooms
  readonly steps: Steps
}

/** Makes the context of a build: the tracked files as they are now, without what `.dockerignore` keeps out. */
export async function makeContext(repository: string, context: string): Promise<number> {
  const ignored = readIgnored(await readFile(join(repository, '.dockerignore'), 'utf8'))
  return copyTracked(repository, context, ignored)
}

/** Runs every instruction of every stage. The last stage is the image; null where a step failed. */
export async function buildImage(stages: readonly Stage[], options: BuildOptions): Promise<Image | null> {
  const made = new Map<string, Image>()
  let last: Image | null = null
  for (const [index, stage] of stages.entries()) {
    const title = `FROM ${stage.base} (Node ${process.versions.node} of this machine)`
    last = await options.steps.step(title, () => beginStage(join(options.folder, `stage-${index}`)))
    for (const instruction of stage.instructions) {
      if (last === null) return null
      const image: Image = last
      const done = await options.steps.step(`${instruction.name} ${instruction.text}`, async () => {
        await follow(instruction, image, made, options)
        return true
      })
      if (done === null) return null
    }
    if (last !== null && stage.name !== null) made.set(stage.name, last)
  }
  return last
}

/** What the base image has, as far as the build goes by it: Node, npm, a user `node`, folders. */
async function beginStage(root: string): Promise<Image> {
  for (const folder of 'etc root home/node opt/yarn-v1 var/lib usr/local/bin tmp run'.split(' '))
    await mkdir(join(root, folder), { recursive: true })
  await chmod(join(root, 'tmp'), 0o1777)
  const users = 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n'
  await writeFile(join(root, 'etc/passwd'), users)
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n')
  await cp(npmFolder(), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx'])
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name))
  const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
  const start = { entrypoint: [], probe: [], port: 0 }
  return { root, workdir: '/', env, user: 0, group: 0, volumes: [], ...start }
}

/** Where this machine's npm is: its bin is a link into its package. */
function npmFolder(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const place = folders.map((folder) => join(folder, 'npm')).find((path) => existsSync(path))
  if (place === undefined) throw new Error('there is no npm on PATH')
  return dirname(dirname(realpathSync(place)))
}

async function follow(
  { name, text }: Instruction,
  image: Image,
  made: ReadonlyMap<string, Image>,
  { context, rooms }: BuildOptions,
): Promise<void> {
  switch (name) {
    case 'WORKDIR':
      image.workdir = posix.resolve(image.workdir, text)
      await mkdir(join(image.root, image.workdir), { recursive: true })
      return
    case 'ENV':
      Object.assign(image.env, variablesOf(text))
      return
    case 'COPY':
      return copy(text, image, made, context)
    case 'RUN': {
      const env = { ...image.env, HOME: '/root' }
      await rooms.build(image.root, { words: ['/bin/sh', '-c', text], workdir: image.workdir, env })
      return
    }
    case 'VOLUME':
      image.volumes.push(text)
      return
    case 'USER': {
      const [, user, group] = /^(\d+):(\d+)$/.exec(text) ?? []
      if (user === undefined) throw new Error('a user by name: Kubernetes cannot tell that it is not root')
      image.user = Number(user)
      image.group = Number(group)
      return
    }
    case 'EXPOSE':
      image.port = Number(text)
      return
    case 'HEALTHCHECK':
      image.probe = execForm(text.replace(/^.* CMD /, ''))
      return
    case 'ENTRYPOINT':
      image.entrypoint = execForm(text)
      return
    default:
      throw new Error('this run does not know how to do that without Docker')
  }
}

async function copy(
  text: string,
  image: Image,
  made: ReadonlyMap<string, Image>,
  context: string,
): Promise<void> {
  const words = text.split(/\s+/)
  const [, stage] = /^--from=(\S+)$/.exec(words[0] ?? '') ?? []
  const named = words.slice(stage === undefined ? 0 : 1)
  const sources = named.slice(0, -1)
  const target = named.at(-1) ?? ''
  const from = stage === undefined ? context : made.get(stage)?.root
  if (from === undefined) throw new Error(`no stage "${stage}"`)
  const isFolder = target.endsWith('/') || sources.length > 1
  const place = join(image.root, posix.resolve(image.workdir, target))
  for (const source of sources) {
    const path = join(from, source)
    // Of a folder Docker copies what is in it.
    const to = isFolder && !(await stat(path)).isDirectory() ? join(place, basename(source)) : place
    await mkdir(dirname(to), { recursive: true })
    await cp(path, to, { recursive: true, verbatimSymlinks: true })
  }
}
