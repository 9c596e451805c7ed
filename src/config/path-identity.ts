import { type BigIntStats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

/*
 * What stands at a path now, told from what stood there before: editors write beside and rename, and orchestrators
 * swap a symbolic link somewhere above. A watcher stays with what it was given; only looking finds the new one.
 */

/** Editors write a file in several steps, and copying a folder takes a moment, in milliseconds. */
export const quietMsDefault = 200

/** How often it is looked, in milliseconds. */
export const lookMsDefault = 1_500

/** Tells one folder from another at the same path, behind symbolic links too; null where there is none. */
export async function folderIdentity(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(ofFolder, () => null)
}

export function folderIdentityNow(path: string): string | null {
  try {
    return ofFolder(statSync(path, { bigint: true }))
  } catch {
    return null
  }
}

/** Tells one content of a file from another, as far as its times and size do; null where there is none. */
export async function fileIdentity(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(ofFile, () => null)
}

// --- internal ---

/** The number of a folder that was removed is given to the next one, whose birth then tells it apart. */
function ofFolder({ dev, ino, birthtimeNs }: BigIntStats): string {
  return [dev, ino, birthtimeNs].join(' ')
}

function ofFile(stats: BigIntStats): string {
  const { size, mtimeNs, ctimeNs } = stats
  return [ofFolder(stats), size, mtimeNs, ctimeNs].join(' ')
}
