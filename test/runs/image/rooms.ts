import { chmod, readdir, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { type Running, runCommand, startCommand } from '../../support/run-command.ts'

/** What a command of the image is run with. */
export type Command = {
  /** Program and arguments, as the Dockerfile has them. */
  readonly words: readonly string[]
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
}

/** The image as it is run: what may be written, and by whom. */
export type Started = Command & {
  readonly user: number
  readonly group: number
  /** Path in the image, and the folder that is mounted there. */
  readonly volumes: ReadonlyMap<string, string>
}

/** Runs commands with a folder as their root. */
export type Rooms = {
  /** How, in a few words. */
  readonly name: string
  /** Whether a program that is run finds nothing but the image: no other file, no shell, a root that is read-only. */
  readonly isClosed: boolean
  /** A build step, in a shell with the tools of a build, as root of its folder. Resolves with what it said. */
  readonly build: (root: string, command: Command) => Promise<string>
  /** The image's program. */
  readonly start: (root: string, started: Started) => Running
}

/**
 * For machines without namespaces: absolute paths of commands and variables are moved into the folder, and the
 * program is started there as who it is to be, where that can be chosen. It could see the rest of the machine.
 */
export const mappedRooms: Rooms = {
  name: 'with their paths moved into folders',
  isClosed: false,
  build: buildMapped,
  start: startMapped,
}

/** What mounts and changes roots; it needs root on Linux. */
const tools = ['unshare', 'mount', 'setpriv'] as const

/** Why this machine has no such rooms; null: it has. */
export function closedRoomsTrouble(): string | null {
  if (process.platform !== 'linux') return 'this is no Linux'
  if (process.getuid?.() !== 0) return 'this is not run as root'
  const missing = tools.find((tool) => spawnSync(tool, ['--version']).error !== undefined)
  if (missing !== undefined) return `there is no ${missing}`
  const tried = spawnSync('unshare', ['--mount', '--pid', '--fork', '--mount-proc', 'true'])
  return tried.status === 0 ? null : 'namespaces are not allowed here'
}

/**
 * Rooms of their own: a folder is the root, in mount and process namespaces of its own. A build step sees this
 * machine's tools, read-only. The image's program sees the folder, its volumes, Node and the libraries that Node
 * itself needs, and nothing else; it is process 1.
 */
export const closedRooms: Rooms = {
  name: 'in namespaces of their own',
  isClosed: true,
  build: buildClosed,
  start: startClosed,
}

const isRoot = process.getuid?.() === 0

function buildMapped(root: string, { words, workdir, env }: Command): Promise<string> {
  const [shell = '', ...rest] = words
  const moved = rest.map((word) => movedPaths(root, word))
  // Only root may give a file away.
  const said = moved.map((word) => (isRoot ? word : word.replaceAll(/\bchown\b/g, 'true')))
  const path = [join(root, 'usr/local/bin'), dirname(process.execPath), process.env['PATH'] ?? '']
  return runCommand(shell, said, {
    cwd: join(root, workdir),
    env: { ...process.env, ...movedVariables(root, env), PATH: path.join(delimiter) },
  })
}

function startMapped(root: string, { words, workdir, env, user, group, volumes }: Started): Running {
  const [, ...args] = words
  const state: Record<string, string> = {}
  for (const [to, from] of volumes)
    for (const [name, value] of Object.entries(env)) if (value === dirname(to)) state[name] = dirname(from)
  return startCommand(process.execPath, args, {
    cwd: join(root, workdir),
    env: { ...movedVariables(root, env), PATH: '', ...state },
    ...(isRoot && { uid: user, gid: group }),
  })
}

/** Every absolute path of a shell's words. One that it cannot tell for certain is refused: it may be deleted. */
function movedPaths(root: string, words: string): string {
  if (/["'`$=:]\//.test(words)) throw new Error(`cannot be moved into a folder: ${words}`)
  return words.replaceAll(/(?<=^|\s)\/(?=[\w.])/g, `${root}/`)
}

const movedVariables = (root: string, env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.startsWith('/') ? join(root, value) : value]),
  )

/** Takes the right to write from everything in a folder, or gives its owner that right back. */
export async function setWritable(folder: string, isWritable: boolean): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), isWritable ? 0o755 : 0o555)
  }
  await chmod(folder, isWritable ? 0o755 : 0o555)
}

type Mount = { readonly from: string; readonly to: string; readonly writable?: boolean }

/** Folders of this machine that a build step needs for its shell. */
const systemFolders = ['/bin', '/sbin', '/lib', '/lib64', '/usr/bin', '/usr/sbin', '/usr/lib', '/usr/libexec']

/** Starts a program as process 1 of a namespace, from which no program gets rights that it does not have. */
const starter = 'setpriv --no-new-privs unshare --pid --fork --kill-child --mount-proc=/proc'.split(' ')

const devices = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom']

const node = { from: process.execPath, to: '/usr/local/bin/node' }

async function buildClosed(root: string, { words, workdir, env }: Command): Promise<string> {
  const mounts: Mount[] = [...systemFolders, ...devices, '/etc/resolv.conf', '/etc/ssl']
    .filter((path) => existsSync(path))
    .map((path) => ({ from: path, to: path, writable: path.startsWith('/dev/') }))
  mounts.push(node, ...registryMounts())
  await placesFor(root, mounts)
  const inner = ['--pid', '--fork', '--kill-child', '--mount-proc=/proc', `--root=${root}`, `--wd=${workdir}`]
  const script = [...mounting(root, mounts), `exec ${quoted(['unshare', ...inner, ...words])}`]
  return runCommand('unshare', privately(script), { env: { ...env, ...registryVariables() } })
}

function startClosed(root: string, { words, workdir, env, user, group, volumes }: Started): Running {
  const libraries = librariesOf(node.from).map((path) => ({ from: path, to: path }))
  const kept = [...volumes].map(([to, from]) => ({ from, to, writable: true }))
  const open = devices.map((path) => ({ from: path, to: path, writable: true }))
  const mounts: Mount[] = [node, ...libraries, ...open, ...kept]
  const script = [
    `mount --bind ${quoted([root, root])}`,
    ...mounting(root, mounts),
    `mount -o remount,bind,ro ${quoted([root])}`,
    `exec ${quoted([...starter, `--root=${root}`, `--wd=${workdir}`, `--setgid=${group}`, `--setuid=${user}`, ...words])}`,
  ]
  return startCommand('unshare', privately(script), { env, pid: firstChild })
}

const privately = (script: readonly string[]): readonly string[] => [
  ...'--mount --propagation private sh -ec'.split(' '),
  script.join('\n'),
]

const mounting = (root: string, mounts: readonly Mount[]): readonly string[] =>
  mounts.flatMap(({ from, to, writable = false }) => [
    `mount --bind ${quoted([from, join(root, to)])}`,
    ...(writable ? [] : [`mount -o remount,bind,ro ${quoted([join(root, to)])}`]),
  ])

/** A mount needs something to lie on: empty files and folders, before the root is read-only. */
async function placesFor(root: string, mounts: readonly Mount[]): Promise<void> {
  await mkdir(join(root, 'proc'), { recursive: true })
  for (const { from, to } of mounts) {
    const place = join(root, to)
    if (existsSync(place)) continue
    if ((await stat(from)).isDirectory()) await mkdir(place, { recursive: true })
    else {
      await mkdir(dirname(place), { recursive: true })
      await writeFile(place, '')
    }
  }
}

/** Makes what a started image needs to lie on. Before it is looked at, so that nothing of it changes later. */
export async function placesToStart(root: string): Promise<void> {
  const paths = [...librariesOf(node.from), ...devices]
  await placesFor(root, [node, ...paths.map((path) => ({ from: path, to: path }))])
}

function librariesOf(program: string): readonly string[] {
  const told = spawnSync('ldd', [program], { encoding: 'utf8' })
  return told.status === 0
    ? [...told.stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(/gm)].map(([, path = '']) => path)
    : []
}

/** Where this machine's user has set up how packages are fetched, a build does so too. */
function registryMounts(): readonly Mount[] {
  const certificates = process.env['NODE_EXTRA_CA_CERTS'] ?? process.env['SSL_CERT_FILE'] ?? ''
  return [
    { from: join(homedir(), '.npmrc'), to: '/root/.npmrc' },
    // What it holds is compared with the lock file like everything that is fetched.
    { from: join(homedir(), '.npm'), to: '/root/.npm', writable: true },
    { from: certificates, to: '/run/certificates.pem' },
  ].filter(({ from }) => from !== '' && existsSync(from))
}

function registryVariables(): Readonly<Record<string, string>> {
  const given = Object.entries(process.env).filter(([name]) => registryVariable.test(name))
  const certificates = registryMounts().find(({ to }) => to === '/run/certificates.pem')
  return {
    ...Object.fromEntries(given.map(([name, value]) => [name, value ?? ''])),
    ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: certificates.to }),
  }
}

const registryVariable = /^(?:npm_config_(?:registry|cafile)|https?_proxy|no_proxy)$/i

/** `unshare` waits for the program that it started in a namespace. */
async function firstChild(parent: number): Promise<number> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const name = await readFile(`/proc/${parent}/comm`, 'utf8').catch(() => '')
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '')
    const [child] = children.trim().split(' ').map(Number)
    // Before, it is the shell that mounts.
    if (name === 'unshare\n' && child !== undefined && child > 0) return child
    await setTimeout(10)
  }
  throw new Error('the program was not started')
}

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
