import { dirname, posix, win32 } from 'node:path'
import { StoreError } from './store-error.ts'
import { mkdirSync } from 'node:fs'

export type UserPlace = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: string
}

/**
 * The path of a file in the folder that the platform has for what a user's programs keep. Throws a `StoreError` if the
 * environment tells none.
 */
export function stateFile({ env, platform }: UserPlace, name: string): string {
  switch (platform) {
    case 'win32':
      return under(win32, env['LOCALAPPDATA'], ['Foldgate', name], 'LOCALAPPDATA')
    case 'darwin':
      return under(posix, env['HOME'], ['Library', 'Application Support', 'Foldgate', name], 'HOME')
    default: {
      // A relative path does not count (https://specifications.freedesktop.org/basedir/latest/).
      const state = env['XDG_STATE_HOME'] ?? ''
      if (posix.isAbsolute(state)) return posix.join(state, 'foldgate', name)
      return under(posix, env['HOME'], ['.local', 'state', 'foldgate', name], 'HOME')
    }
  }
}

/**
 * Makes a folder that only its user enters, with those above it as far as they are missing. Throws what the system says.
 * Node's own way (`recursive`) asks without an end where a file system makes no folder although the one above is there, as
 * /proc does.
 */
export function makeFolder(path: string): void {
  if (isMade(path)) return
  makeFolder(dirname(path))
  if (!isMade(path)) mkdirSync(path, { mode: 0o700 })
}

// --- internal ---

function under(
  paths: typeof posix,
  base: string | undefined,
  names: readonly string[],
  variable: string,
): string {
  if (base !== undefined && paths.isAbsolute(base)) return paths.join(base, ...names)
  throw new StoreError(
    `sqlite: has no folder to be in, since ${variable} is not set: name a file by --store sqlite:PATH`,
  )
}

/** False where the folder above is missing, or no folder can be made in it. */
function isMade(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'EEXIST') return true
    if (code === 'ENOENT' && dirname(path) !== path) return false
    throw error
  }
}
