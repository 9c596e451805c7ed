import { posix, win32 } from 'node:path'
import { StoreError } from './store-error.ts'

/** Where `store.url` says that records are kept. */
export type StoreLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string }

export type UserPlace = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: string
}

/** Throws a `StoreError` where `sqlite:` is to be in a folder that the environment does not tell. */
export function storeLocation(url: string, place: UserPlace): StoreLocation {
  if (url === 'memory:' || url === 'sqlite::memory:') return { kind: 'memory' }
  if (!url.startsWith('sqlite:')) return { kind: 'redis', url }
  const path = url.slice('sqlite:'.length)
  return { kind: 'sqlite', path: path === '' ? defaultPath(place) : path }
}

// --- internal ---

const FILE_NAME = 'foldgate.sqlite'

/** In the user's folder for what programs remember, as the platform has it. */
function defaultPath({ env, platform }: UserPlace): string {
  switch (platform) {
    case 'win32':
      return under(win32, env['LOCALAPPDATA'], ['Foldgate'], 'LOCALAPPDATA')
    case 'darwin':
      return under(posix, env['HOME'], ['Library', 'Application Support', 'Foldgate'], 'HOME')
    default: {
      // A relative path is none (https://specifications.freedesktop.org/basedir/latest/).
      const state = env['XDG_STATE_HOME'] ?? ''
      if (posix.isAbsolute(state)) return posix.join(state, 'foldgate', FILE_NAME)
      return under(posix, env['HOME'], ['.local', 'state', 'foldgate'], 'HOME')
    }
  }
}

function under(
  paths: typeof posix,
  base: string | undefined,
  folders: readonly string[],
  variable: string,
): string {
  if (base !== undefined && paths.isAbsolute(base)) return paths.join(base, ...folders, FILE_NAME)
  throw new StoreError(
    `sqlite: has no folder to be in, since ${variable} is not set: name a file by --store sqlite:PATH`,
  )
}
