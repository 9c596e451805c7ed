import { access, constants, lstat, open, readdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isConversationId } from '../conversation/keys.ts'
import { StoreError, troubleOf } from '../storage/store-error.ts'
import { within } from '../storage/within.ts'

/** The file of a conversation; null for a text that is no conversation's id: it may come from a store that others write to. */
export function archiveFile(dir: string, conversation: string): string | null {
  return isConversationId(conversation) ? join(dir, conversation + ENDING) : null
}

/** The beginning of a file. Its first line tells it from other files of the folder with a name of that form. */
export function titleOf(conversation: string): string {
  return `${firstLine(conversation)}\nWhat was taken out of its prompts or shortened there, word for word. #1 is its first message behind the leading system messages.\n`
}

/**
 * Deletes the file of a conversation, or those of all if it is null, and nothing else that lies in the folder.
 * Resolves with how many there were.
 */
export async function deleteArchived(dir: string, conversation: string | null): Promise<number> {
  const path = conversation === null ? null : archiveFile(dir, conversation)
  const paths = conversation === null ? await archivedFiles(dir) : path === null ? [] : [path]
  let deleted = 0
  for (const each of paths) {
    if (!(await isFile(each))) continue
    await orIfAbsent(undefined, unlink(each))
    deleted += 1
  }
  return deleted
}

/** The same for `foldgate purge`: resolves with what it tells, and rejects with a `StoreError`. */
export async function purgeArchive(dir: string, conversation: string | null): Promise<string> {
  const name = `the archive ${dir}`
  let files: number
  try {
    files = await deleteArchived(dir, conversation)
  } catch (error) {
    const message = `${name} failed in the middle of it: see to it (${troubleOf(error)}), and run foldgate purge again`
    throw new StoreError(message, { cause: error })
  }
  const whose = conversation === null ? '' : ` of the conversation ${conversation}`
  if (files === 0)
    return `Nothing to delete: ${name} holds no file${whose === '' ? ' of a conversation' : whose}.`
  return `Deleted ${files === 1 ? '1 file' : `${files} files`}${whose} from ${name}.`
}

/** Why nothing can be kept in a folder, as an operator is told; null if it can. Nothing is made. */
export async function archiveTrouble(dir: string): Promise<string | null> {
  const trouble = await within(DEADLINE_MS, writingTrouble(dir)).catch(troubleOf)
  return trouble === null
    ? null
    : `archive.dir: nothing can be written in ${dir} (${trouble}): conversations go on, and what is taken out of them is not kept. Make it a folder that the user of Foldgate may write in, or name another.`
}

// --- internal ---

const ENDING = '.md'

function firstLine(conversation: string): string {
  return `# Conversation ${conversation}\n`
}

/** All files that begin as a conversation's file does: many another one has a name of sixteen characters. */
async function archivedFiles(dir: string): Promise<readonly string[]> {
  const paths: string[] = []
  for (const name of await orIfAbsent([], readdir(dir))) {
    const conversation = name.slice(0, -ENDING.length)
    const path = archiveFile(dir, conversation)
    if (path === null || !name.endsWith(ENDING) || !(await isFile(path))) continue
    if (await orIfAbsent(false, isTitled(path, conversation))) paths.push(path)
  }
  return paths
}

async function isTitled(path: string, conversation: string): Promise<boolean> {
  const line = Buffer.from(firstLine(conversation))
  // Without O_NONBLOCK a pipe would be waited for; where there are no links of this kind both are undefined.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(line.length), 0, line.length, 0)
    return buffer.subarray(0, bytesRead).equals(line)
  } finally {
    await file.close()
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await orIfAbsent(null, lstat(path)))?.isFile() ?? false
}

/** `instead` if there is no such file or folder, or if what should be a folder is a file. */
async function orIfAbsent<Result>(instead: Result, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    const trouble = troubleOf(error)
    if (trouble === 'ENOENT' || trouble === 'ENOTDIR') return instead
    throw error
  }
}

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
