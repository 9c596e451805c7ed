import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { archiveFile, deleteArchived } from './files.ts'
import { makeFolder } from '../storage/make-folder.ts'
import { NoAnswerError, within } from '../storage/within.ts'

/** A folder with a Markdown file for each conversation. Files are appended to, in the order in which that is asked for. */
export type Archive = ReturnType<typeof openArchive>

/** An entry in its pieces; none if there is nothing to be appended. */
export type Compose = (standing: Standing) => Promise<readonly Buffer[]>

export type Standing = {
  /** Whether the file is empty: it may just have been made. */
  readonly isEmpty: boolean
  readonly holdings: readonly Holding[]
}

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
        if (path === null) throw new ArchiveError('EINVAL', 'that is no id of a conversation')
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

/**
 * What a file says in its last lines that it holds: so nothing is written twice, and nothing is left out that another
 * process, a full disk or a time without an archive kept from it. Each line is for one of the conversations that share
 * the file: runs that begin alike and are sent at the same time have the same id.
 */
export type Holding = {
  /** Numbers of messages, as in their names. */
  readonly messages: ReadonlySet<number>
  /** Digests of the summaries that stood in the last entry. */
  readonly summaries: ReadonlySet<string>
  /** After how many messages behind the leading system block it was written. */
  readonly point: number
  /** The beginning of the meaning key of the conversation up to there: another conversation's file holds nothing of this one. */
  readonly key: string
}

/** One of the last lines of a file. */
export function writeHolding({ messages, summaries, point, key }: Holding): string {
  return `<!-- foldgate: holds ${asRanges(messages)} of ${point} ${key}; summaries ${[...summaries].join(' ')} -->\n`
}

/** @internal exported for tests. The lines of this kind at the end of a text: none if the file broke off. */
export function readHoldings(text: string): readonly Holding[] {
  const holdings: Holding[] = []
  let end = text.length
  while (end > 0 && holdings.length < HOLDINGS_MAX) {
    const start = text.lastIndexOf('\n', end - 2) + 1
    const holding = readLine(text.slice(start, end))
    if (holding === null) break
    holdings.unshift(holding)
    end = start
  }
  return holdings
}

/** A file has such a line for at most this many conversations. */
export const HOLDINGS_MAX = 16

/** Enough of a key or a digest to tell the conversations and summaries of one file apart. */
export const HOLDING_DIGEST_CHARS = 16

// --- internal ---

/** A write that takes longer has failed, in milliseconds: a request waits for it. */
const DEADLINE_MS = 2_000

/** The end of a file that is read for its last lines: one is that of a conversation whose every second message is held. */
const END_BYTES_MAX = 256 * 1024

/** A file that cannot be written. `code` is all that is told of it. */
class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
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
  if (!stats.isFile()) throw new ArchiveError('EINVAL', 'what has the name of a file is none')
  const holdings = readHoldings(await endOf(file, stats))
  const entry = Buffer.concat(await compose({ isEmpty: stats.size === 0, holdings }))
  if (entry.length === 0) return
  const { bytesWritten } = await file.write(entry, 0, entry.length, null)
  if (bytesWritten === entry.length) return
  // A full disk takes a part, whose last line would say nothing and whose fence would stay open.
  if ((await file.stat()).size === stats.size + bytesWritten) await file.truncate(stats.size)
  throw new ArchiveError('ENOSPC', 'an entry could be written in part only')
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

function readLine(line: string): Holding | null {
  const [, ranges = '', point, key = '', summaries = ''] = holdingLine.exec(line) ?? []
  if (point === undefined) return null
  return {
    messages: numbersIn(ranges),
    summaries: new Set(summaries.split(' ').filter((digest) => digest !== '')),
    point: Number(point),
    key,
  }
}

const holdingLine = /^<!-- foldgate: holds ([\d,-]*) of (\d{1,9}) ([\w-]*); summaries ([\w -]*) -->\n$/

function asRanges(messages: ReadonlySet<number>): string {
  const ranges: { first: number; last: number }[] = []
  for (const number of [...messages].sort((one, other) => one - other)) {
    const range = ranges.at(-1)
    if (range !== undefined && range.last === number - 1) range.last = number
    else ranges.push({ first: number, last: number })
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}

/** More messages than any body holds: a line that says otherwise was not written here. */
const MESSAGES_MAX = 1_000_000

/** Of ranges that ascend, as they are written: overlapping ones could keep the process busy for hours. */
function numbersIn(ranges: string): ReadonlySet<number> {
  const numbers = new Set<number>()
  let next = 1
  for (const range of ranges.split(',')) {
    const [first = 0, last = first] = range.split('-').map(Number)
    if (first < next) break
    for (next = first; next <= Math.min(last, MESSAGES_MAX); next += 1) numbers.add(next)
  }
  return numbers
}
