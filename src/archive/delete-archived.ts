import { lstat, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { troubleOf } from '../stores/store-error.ts'
import { archivedConversation, archiveFile } from './file-names.ts'
import { isTitled } from './title.ts'

/**
 * Deletes the file of a conversation, or those of all where it is null, and nothing else that lies in the folder.
 * Resolves with how many there were.
 */
export async function deleteArchived(dir: string, conversation: string | null): Promise<number> {
  const path = conversation === null ? null : archiveFile(dir, conversation)
  const paths = conversation === null ? await archivedFiles(dir) : path === null ? [] : [path]
  let deleted = 0
  for (const each of paths) {
    if (!(await isFile(each))) continue
    await orWhereAbsent(undefined, unlink(each))
    deleted += 1
  }
  return deleted
}

// --- internal ---

/** Those that begin as a conversation's file does: a name of sixteen characters has many another one. */
async function archivedFiles(dir: string): Promise<readonly string[]> {
  const paths: string[] = []
  for (const name of await orWhereAbsent([], readdir(dir))) {
    const conversation = archivedConversation(name)
    const path = join(dir, name)
    if (conversation === null || !(await isFile(path))) continue
    if (await orWhereAbsent(false, isTitled(path, conversation))) paths.push(path)
  }
  return paths
}

async function isFile(path: string): Promise<boolean> {
  const stats = await orWhereAbsent(null, lstat(path))
  return stats?.isFile() ?? false
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
