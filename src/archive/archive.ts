import { constants, type Stats } from 'node:fs'
import { access, type FileHandle, lstat, open, readdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isConversationId } from '../conversation/prefix-keys.ts'
import { makeFolder } from '../storage/state-folder.ts'
import { NoAnswerError, StoreError, troubleOf, within } from '../storage/store-error.ts'

/** A folder with a Markdown file for each conversation. Files are appended to, in the order in which that is asked for. */
export type Archive = ReturnType<typeof openArchive>

/** An entry in its pieces; none if there is nothing to be appended. */
export type Compose = (standing: {
  /** Whether the file is empty: it may just have been made. */
  readonly isEmpty: boolean
  /** How it ends, byte by byte: what its last lines say is for whoever wrote them. */
  readonly end: string
}) => Promise<readonly Buffer[]>

/** An archive in a folder that is made, with mode 0700, when it is first needed. `dir` is an absolute path. */
export function openArchive(
  dir: string,
  { deadlineMs = DEADLINE_MS }: { readonly deadlineMs?: number } = {},
) {
  const inTurn = createOneAtATime({ deadlineMs })
  return {
    /** The absolute path of a conversation's file, which may not be there yet; null if that is no conversation's id. */
    fileOf: (conversation: string) => archiveFile(dir, conversation),
    /** Appends the entry that `compose` makes, in one write. Rejects if that fails or takes too long. */
    append: (conversation: string, compose: Compose) =>
      inTurn(async () => {
        const path = archiveFile(dir, conversation)
        if (path === null) throw archiveError('EINVAL', 'that is no id of a conversation')
        const file = await openToAppend(path)
        try {
          await appendTo(file, compose)
        } finally {
          await file.close()
        }
      }),
    /** Deletes a conversation's file; resolves with whether there was one. */
    delete: (conversation: string) => inTurn(async () => (await deleteArchived(dir, conversation)) > 0),
  }
}

/**
 * @internal exported for tests. Does one thing after the other, so that a folder that hangs holds one thread and no more. Work
 * that has not begun by its deadline is not done at all; while something has been under way for that long, everything else is
 * refused at once.
 */
export function createOneAtATime({ deadlineMs }: { readonly deadlineMs: number }) {
  let last: Promise<unknown> = Promise.resolve()
  let isStuck = false

  /** Does work when all that came before it is done; rejects if that takes too long. */
  return async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (isStuck) throw late()
    let isGivenUp = false
    let stuck: NodeJS.Timeout | undefined
    const result = last.then(() => {
      if (isGivenUp) throw late()
      // Counted from its beginning: work that had to wait for other work may be late although nothing hangs.
      stuck = setTimeout(() => {
        isStuck = true
      }, deadlineMs)
      return work()
    })
    const settle = (): void => {
      clearTimeout(stuck)
      isStuck = false
    }
    last = result.then(settle, settle)
    return within(deadlineMs, result, () => {
      isGivenUp = true
      return late()
    })
  }
}

/** The beginning of a file. Its first line tells it from other files of the folder with a name of that form. */
export function titleOf(conversation: string): string {
  return `${firstLine(conversation)}\nWhat was taken out of its prompts or shortened there, word for word. #1 is its first message behind the leading system messages.\n`
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

/**
 * A write that takes longer has failed, and a folder that does is told as trouble, in milliseconds: a request waits for the
 * one, the start for the other.
 */
const DEADLINE_MS = 2_000

/** The end of a file that is read for its last lines: one is that of a conversation whose every second message is held. */
const END_BYTES_MAX = 256 * 1024

/** A file that cannot be written. `code` is all that is told of it. */
function archiveError(code: string, message: string): Error {
  return Object.assign(new Error(message), { name: 'ArchiveError', code })
}

/** No link is followed, and nothing but a file is written to: others may write in the folder, too. */
async function openToAppend(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK a pipe would be waited for. Windows knows neither it nor links of this kind: there they are undefined.
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK
  try {
    return await open(path, flags, 0o600)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    makeFolder(dirname(path))
    return open(path, flags, 0o600)
  }
}

async function appendTo(file: FileHandle, compose: Compose): Promise<void> {
  const stats = await file.stat()
  if (!stats.isFile()) throw archiveError('EINVAL', 'what has the name of a file is none')
  const standing = { isEmpty: stats.size === 0, end: await endOf(file, stats) }
  const entry = Buffer.concat(await compose(standing))
  if (entry.length === 0) return
  const { bytesWritten } = await file.write(entry, 0, entry.length, null)
  if (bytesWritten === entry.length) return
  // A full disk takes a part, whose last line would say nothing and whose fence would stay open.
  if ((await file.stat()).size === stats.size + bytesWritten) await file.truncate(stats.size)
  throw archiveError('ENOSPC', 'an entry could be written in part only')
}

async function endOf(file: FileHandle, { size }: Stats): Promise<string> {
  const length = Math.min(size, END_BYTES_MAX)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
  // Cut in the middle of a character or a line: only the last lines are of interest.
  return buffer.toString('latin1', 0, bytesRead)
}

function late(): NoAnswerError {
  return new NoAnswerError('the folder did not answer in time')
}

/** The file of a conversation; null for a text that is no conversation's id: it may come from a store that others write to. */
function archiveFile(dir: string, conversation: string): string | null {
  return isConversationId(conversation) ? join(dir, conversation + ENDING) : null
}

/**
 * Deletes the file of a conversation, or those of all if it is null, and nothing else that lies in the folder.
 * Resolves with how many there were.
 */
async function deleteArchived(dir: string, conversation: string | null): Promise<number> {
  const paths = conversation === null ? await archivedFiles(dir) : [archiveFile(dir, conversation)]
  let deleted = 0
  for (const path of paths) {
    if (path === null || !(await isFile(path))) continue
    await orIfAbsent(undefined, unlink(path))
    deleted += 1
  }
  return deleted
}

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
