import { chmod, readdir } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { runCommand, startCommand, type Running } from '../../support/run-command.ts'
import type { Command, Rooms, Started } from './rooms.ts'

/**
 * For machines without namespaces: absolute paths of commands and variables are moved into the folder, and the
 * program is started there as who it is to be, where that can be chosen. It could see the rest of the machine.
 */
export const mappedRooms: Rooms = {
  name: 'with their paths moved into folders',
  isClosed: false,
  build: buildIn,
  start: startIn,
}

// --- internal ---

const isRoot = process.getuid?.() === 0

function buildIn(root: string, { words, workdir, env }: Command): Promise<string> {
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

function startIn(root: string, { words, workdir, env, user, group, volumes }: Started): Running {
  const [, ...args] = words
  const state: Record<string, string> = {}
  for (const [to, from] of volumes) {
    for (const [name, value] of Object.entries(env)) if (value === dirname(to)) state[name] = dirname(from)
  }
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

function movedVariables(root: string, env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.startsWith('/') ? join(root, value) : value]),
  )
}

/** Takes the right to write from everything in a folder, or gives its owner that right back. */
export async function setWritable(folder: string, isWritable: boolean): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), isWritable ? 0o755 : 0o555)
  }
  await chmod(folder, isWritable ? 0o755 : 0o555)
}
