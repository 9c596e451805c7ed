import { lstat, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { troubleOf } from '../stores/store-error.ts'
import { archiveFile, isArchiveName } from './file-names.ts'

/**
 * Deletes the file of a conversation, or those of all where it is null, and nothing else that lies in the folder.
 * Resolves with how many there were.
 */
export async function deleteArchived(dir: string, conversation: string | null): Promise<number> {
  const path = conversation === null ? null : archiveFile(dir, conversation)
  const paths = conversation === null ? await archivedFiles(dir) : path === null ? [] : [path]
  let deleted = 0
  for (const each of paths) if (await deleteFile(each)) deleted += 1
  return deleted
}

// --- internal ---

async function archivedFiles(dir: string): Promise<readonly string[]> {
  const names = await orWhereAbsent([], readdir(dir))
  return names.filter(isArchiveName).map((name) => join(dir, name))
}

async function deleteFile(path: string): Promise<boolean> {
  const stats = await orWhereAbsent(null, lstat(path))
  if (stats === null || !stats.isFile()) return false
  await orWhereAbsent(undefined, unlink(path))
  return true
}

/** `instead` where there is no such file or folder. */
async function orWhereAbsent<Result>(instead: Result, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (absent.has(troubleOf(error))) return instead
    throw error
  }
}

/** The second: what should be a folder is a file. */
const absent: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])
