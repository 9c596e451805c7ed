import { spawnSync } from 'node:child_process'
import { cp, mkdir, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/** Copies all tracked files as they are now, but those that are left out. Resolves with how many there are. */
export async function copyTracked(
  repository: string,
  folder: string,
  isLeftOut: (path: string) => boolean = () => false,
): Promise<number> {
  const files = trackedFiles(repository).filter((path) => !isLeftOut(path))
  for (const path of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    // What was deleted and not yet committed is no longer there.
    await cp(join(repository, path), join(folder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
  return files.length
}

/** Every file below a folder, by its path from there. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()
}

// --- internal ---

function trackedFiles(repository: string): readonly string[] {
  const told = spawnSync('git', ['ls-files', '-z'], { cwd: repository, encoding: 'utf8' })
  if (told.status !== 0) throw new Error(`git does not tell the tracked files: ${told.stderr}`)
  return told.stdout.split('\0').filter((path) => path !== '')
}
