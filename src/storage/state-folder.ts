import { posix, win32 } from 'node:path'
import { StoreError } from './store-error.ts'

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
