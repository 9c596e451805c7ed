import { lstat, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../config/yaml-file.ts'
import { randomText } from '../../server/own-sign.ts'
import { isGone, isOfThisUser } from './running-foldgate.ts'

/** The path of a folder of one run alone, in which files with a key may lie. It is not made. */
export function ownFolder(pid: number): string {
  return join(tmpdir(), `foldgate-run-${pid}-${randomText()}`)
}

/** Deletes such folders of this user whose runs were killed, and could not. */
export async function removeLeftFolders(): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const pid = /^foldgate-run-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || !isGone(Number(pid))) continue
    const path = join(tmpdir(), name)
    const found = await lstat(path).catch(() => null)
    // What cannot be deleted is none of this run's.
    if (found?.isDirectory() === true && isOfThisUser(found))
      await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

/** Deletes a folder with what is in it. Resolves with why it stays; null if it is gone. */
export async function removeFolder(path: string): Promise<string | null> {
  try {
    // Windows refuses as long as a program or a scanner holds a file open.
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
    return null
  } catch (error) {
    return `${path}, which may hold your key, could not be deleted (${errorCode(error)}): delete it`
  }
}
