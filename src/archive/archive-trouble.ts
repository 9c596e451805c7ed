import { access, constants, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { troubleOf } from '../stores/store-error.ts'
import { within } from '../stores/within.ts'

/** Why nothing can be kept in a folder, as an operator is told; null if it can. Nothing is made. */
export async function archiveTrouble(dir: string): Promise<string | null> {
  const trouble = await within(DEADLINE_MS, writingTrouble(dir)).catch(troubleOf)
  return trouble === null
    ? null
    : `archive.dir: nothing can be written in ${dir} (${trouble}): conversations go on, and what is taken out of them is not kept. Make it a folder that the user of Foldgate may write in, or name another.`
}

// --- internal ---

/** A folder that takes longer to answer is told as trouble, in milliseconds: the start waits for it, and with it a signal to end. */
const DEADLINE_MS = 2_000

/** A folder that is not there can be made if the nearest one above it can be written. */
async function writingTrouble(dir: string): Promise<string | null> {
  try {
    if (!(await stat(dir)).isDirectory()) return 'ENOTDIR'
    await access(dir, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    const trouble = troubleOf(error)
    const above = dirname(dir)
    return trouble === 'ENOENT' && above !== dir ? writingTrouble(above) : trouble
  }
}
