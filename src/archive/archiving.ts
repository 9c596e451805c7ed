import type { Failures } from '../telemetry/failures.ts'
import type { Compaction, StandingSummary } from '../compaction/compaction.ts'
import { lostMessages } from '../compaction/view/view.ts'
import type { MadeCache } from '../compaction/made-cache.ts'
import type { Profile } from '../profiles/schema.ts'
import { type History, toolNameOf } from '../compaction/history/history.ts'
import { runInSlices } from '../scheduling/drive.ts'
import { type Archive, titleOf } from './archive.ts'
import { messageNumber, numberRange, runsOf } from '../compaction/history/message-numbers.ts'
import { summarisedRange } from '../compaction/standing-summary.ts'
import type { Pausable } from '../json/source.ts'
import { readMessage } from '../compaction/history/read-message.ts'
import type { Media } from '../conversation/message.ts'

/**
 * Keeps what a compaction takes out of a conversation's view. Resolves with whether the conversation's file holds it;
 * never rejects.
 */
export type KeepTaken = ReturnType<typeof createArchiving>

type Archiving = { readonly cache: MadeCache; readonly failures: Failures; readonly nowMs: () => number }

/** Keeps it in an archive, if there is one; a failure is counted, and the request goes on as if there were none. */
export function createArchiving(archive: Archive | null, { cache, failures, nowMs }: Archiving) {
  /** `chat.keys`: the meaning key of every prefix of the conversation; `remembered.conversation`: its id. */
  return async function keepTaken(
    request: {
      readonly chat: { readonly keys: readonly string[] }
      readonly remembered: { readonly conversation: string }
      readonly profile: Profile
    },
    { history }: { readonly history: History },
    compaction: Compaction,
  ): Promise<boolean> {
    if (archive === null) return true
    const { chat, profile } = request
    const { conversation } = request.remembered
    return failures.around('archive', false, async () => {
      const lost = await runInSlices(lostMessages(history, profile, cache, compaction))
      if (lost.length === 0 && (compaction.fold?.summaries ?? []).length === 0) return true
      const time = new Date(nowMs()).toISOString()
      await archive.append(conversation, async ({ isEmpty, end }) => {
        const pieces = isEmpty ? [Buffer.from(titleOf(conversation))] : []
        const entry = { history, compaction, lost, keys: chat.keys, time, holdings: readHoldings(end) }
        await runInSlices(writeCompactionEntry(entry, (text) => pieces.push(Buffer.from(text))))
        return pieces
      })
      return true
    })
  }
}

type CompactionEntry = {
  readonly history: History
  readonly compaction: Compaction
  /** What the compaction leaves out or shortens (`lostMessages`). */
  readonly lost: readonly number[]
  /** The meaning key of every prefix. */
  readonly keys: readonly string[]
  /** When it was made, as an ISO time. */
  readonly time: string
  /** The last lines of the file, which say what it holds; none if it says nothing, or is not there. */
  readonly holdings: readonly Holding[]
}

/**
 * @internal exported for tests. Writes the messages that a compaction takes away and the file does not hold yet, piece by
 * piece: a heading, each message, the new summaries, and what the file holds now. Writes nothing if nothing is new.
 */
export function* writeCompactionEntry(entry: CompactionEntry, write: (text: string) => void): Pausable<void> {
  const { history, compaction, lost } = entry
  const { systemCount } = history.structure
  const { held, others } = ownHolding(entry)
  const fresh = lost.filter((index) => !held.messages.has(index - systemCount + 1))
  const standing = (compaction.fold?.summaries ?? []).map((summary) => ({
    summary,
    digest: digestOf(history, summary),
  }))
  const written = standing.filter(({ digest }) => !held.summaries.has(digest))
  if (fresh.length === 0 && written.length === 0) return

  const [first = 0] = fresh
  const range =
    fresh.length === 0 ? 'a summary' : numberRange(first, (fresh.at(-1) ?? first) + 1, systemCount)
  write(`\n# ${entry.time}, ${compaction.reason}: ${range}\n\n`)
  for (const index of fresh) {
    write(`${yield* messageMarkdown(history, index)}\n`)
    yield
  }
  for (const { summary } of written) {
    write(`## Summary of ${summarisedRange(summary, systemCount)}\n\n`)
    write(`${fenced(summary.text)}\n`)
  }
  for (const other of others.slice(1 - HOLDINGS_MAX)) write(writeHolding(other))
  write(
    writeHolding({
      messages: new Set([...held.messages, ...fresh.map((index) => index - systemCount + 1)]),
      summaries: new Set(standing.map(({ digest }) => digest)),
      point: compaction.point - systemCount,
      key: keyAt(entry, compaction.point),
    }),
  )
}

/**
 * @internal exported for tests. A text as a Markdown code fence, word for word: the fence is longer than any run of its own
 * character within.
 */
export function fenced(text: string): string {
  const [backticks, tildes] = [longestRun(text, /`{3,}/g), longestRun(text, /~{3,}/g)]
  const fence = backticks <= tildes ? fenceOf('`', backticks) : fenceOf('~', tildes)
  return `${fence}\n${text}\n${fence}\n`
}

/** @internal exported for tests. One of the last lines of a file. */
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

// --- internal ---

/**
 * What a file says in its last lines that it holds: so nothing is written twice, and nothing is left out that another
 * process, a full disk or a time without an archive kept from it. Each line is for one of the conversations that share
 * the file: runs that begin alike and are sent at the same time have the same id.
 */
type Holding = {
  /** Numbers of messages, as in their names. */
  readonly messages: ReadonlySet<number>
  /** Digests of the summaries that stood in the last entry. */
  readonly summaries: ReadonlySet<string>
  /** After how many messages behind the leading system block it was written. */
  readonly point: number
  /** The beginning of the meaning key of the conversation up to there: another conversation's file holds nothing of this one. */
  readonly key: string
}

/** A file has such a line for at most this many conversations. */
const HOLDINGS_MAX = 16

/** Enough of a key or a digest to tell the conversations and summaries of one file apart. */
const HOLDING_DIGEST_CHARS = 16

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
  const runs = runsOf([...messages].sort((one, other) => one - other))
  return runs.map(({ start, end }) => (end - start === 1 ? `${start}` : `${start}-${end - 1}`)).join(',')
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

/**
 * A message under a heading that names it: its text and its calls word for word, its media as marks. One whose role is
 * unknown as it came: what else its fields mean is not known, either.
 */
function* messageMarkdown(history: History, index: number): Pausable<string> {
  const message = history.messages[index]
  if (message === undefined) return ''
  const pieces = [`## ${messageNumber(index, history.structure.systemCount)} ${whoseOf(history, index)}\n`]
  if (message.facts.role === 'other') {
    pieces.push('As it came:\n', fenced(history.source.text(message.start, message.end)))
    return pieces.join('\n')
  }
  const { text, calls, uncut } = yield* readMessage(history, message)
  if (text !== '') pieces.push(fenced(text))
  yield
  for (const media of message.facts.media) pieces.push(`${markOf(media)}\n`)
  // Thoughts, a refusal, a content of an unknown shape: nobody shortens them, but a fold leaves them out.
  if (uncut !== '') pieces.push('Besides its text:\n', fenced(uncut))
  for (const { name, argumentsText } of calls) {
    pieces.push(`Call of ${oneLine(name)}:\n`, fenced(argumentsText))
    yield
  }
  return pieces.join('\n')
}

/** The parts that the file holds of this very conversation, and its lines for others that begin alike and have the same id. */
function ownHolding(entry: CompactionEntry) {
  const { holdings, history } = entry
  const isOwn = ({ key, point }: Holding): boolean =>
    key === keyAt(entry, point + history.structure.systemCount)
  const own = holdings.filter(isOwn)
  return {
    held: {
      messages: new Set(own.flatMap(({ messages }) => [...messages])),
      summaries: new Set(own.flatMap(({ summaries }) => [...summaries])),
    },
    others: holdings.filter((holding) => !isOwn(holding)),
  }
}

function keyAt({ keys }: CompactionEntry, point: number): string {
  return (keys[point] ?? '').slice(0, HOLDING_DIGEST_CHARS)
}

function digestOf(history: History, { start, end, text }: StandingSummary): string {
  const from = history.structure.systemCount
  return history.digest(`${start - from} ${end - from} ${text}`).slice(0, HOLDING_DIGEST_CHARS)
}

function whoseOf(history: History, index: number): string {
  const role = history.messages[index]?.facts.role ?? 'other'
  if (role !== 'tool') return role
  const tool = oneLine(toolNameOf(history, index))
  return tool === '' ? 'result' : `result of ${tool}`
}

function markOf({ kind, place, dataBytes, widthPixels, heightPixels }: Media): string {
  const size = widthPixels > 0 ? `, ${widthPixels} × ${heightPixels} pixels` : ''
  const what = kind === 'other' ? 'a part of another kind' : kind
  switch (place) {
    case 'inline':
      return `[${what}, ${dataBytes} bytes${size}]`
    case 'remote':
      return `[${what} at an address]`
    case 'reference':
    case 'beside':
      return `[${what} kept by the upstream]`
  }
}

const NAME_CHARS_MAX = 200

/** A name that a client wrote, as it may stand in a heading: a reader's program must not load what it names. */
function oneLine(name: string): string {
  return name
    .slice(0, NAME_CHARS_MAX)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\\`*[\]<>]/g, String.raw`\$&`)
    .trim()
}

/** A shorter run of them is no fence in Markdown. */
const FENCE_CHARS_MIN = 3

function fenceOf(character: string, longest: number): string {
  return character.repeat(Math.max(FENCE_CHARS_MIN, longest + 1))
}

/** Characters of the longest match; 0 if there is none. */
function longestRun(text: string, run: RegExp): number {
  let longest = 0
  for (const [found] of text.matchAll(run)) longest = Math.max(longest, found.length)
  return longest
}
