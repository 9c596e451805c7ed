import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

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
