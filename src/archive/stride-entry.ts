import { handleRange } from '../compaction/handles.ts'
import type { StandingSummary, Stride } from '../compaction/stride.ts'
import { summarisedRange } from '../compaction/summary-note.ts'
import type { Subject } from '../compaction/subject.ts'
import type { Steps } from '../conversation/source.ts'
import { fenced } from './fenced.ts'
import { HOLDING_DIGEST_CHARS, writeHolding, type Holding } from './holding.ts'
import { messageMarkdown } from './message-markdown.ts'

export type StrideEntry = {
  readonly subject: Subject
  readonly stride: Stride
  /** What the stride leaves out or shortens (`losses.ts`). */
  readonly lost: readonly number[]
  /** The meaning key of every prefix. */
  readonly keys: readonly string[]
  /** When it was made, as an ISO time. */
  readonly time: string
  /** What the file says that it holds; null where it says nothing, or is not there. */
  readonly holding: Holding | null
}

/**
 * Writes what a stride takes away and the file does not hold yet, piece by piece: a heading, each message, the new
 * summaries, and what the file holds now. Nothing where there is nothing new.
 */
export function* writeStrideEntry(entry: StrideEntry, write: (text: string) => void): Steps<void> {
  const { subject, stride, lost } = entry
  const { systemCount } = subject.structure
  const held = ownHolding(entry)
  const fresh = lost.filter((index) => !held.messages.has(index - systemCount + 1))
  const standing = (stride.fold?.summaries ?? []).map((summary) => ({
    summary,
    digest: digestOf(subject, summary),
  }))
  const written = standing.filter(({ digest }) => !held.summaries.has(digest))
  if (fresh.length === 0 && written.length === 0) return

  const range = fresh.length === 0 ? 'a summary' : rangeOf(fresh, systemCount)
  write(`\n# ${entry.time}, ${stride.reason}: ${range}\n\n`)
  for (const index of fresh) {
    write(`${messageMarkdown(subject, index)}\n`)
    yield
  }
  for (const { summary } of written) {
    write(`## Summary of ${summarisedRange(summary, systemCount)}\n\n`)
    write(`${fenced(summary.text)}\n`)
  }
  write(
    writeHolding({
      messages: new Set([...held.messages, ...fresh.map((index) => index - systemCount + 1)]),
      summaries: new Set(standing.map(({ digest }) => digest)),
      point: stride.point - systemCount,
      key: keyAt(entry, stride.point),
    }),
  )
}

// --- internal ---

type Held = Pick<Holding, 'messages' | 'summaries'>

const nothing: Held = { messages: new Set(), summaries: new Set() }

/** What the file holds of this very conversation: two that begin alike may have had the same id, one after the other. */
function ownHolding(entry: StrideEntry): Held {
  const { holding, subject } = entry
  if (holding === null) return nothing
  return holding.key === keyAt(entry, holding.point + subject.structure.systemCount) ? holding : nothing
}

function keyAt({ keys }: StrideEntry, point: number): string {
  return (keys[point] ?? '').slice(0, HOLDING_DIGEST_CHARS)
}

function rangeOf(indexes: readonly number[], systemCount: number): string {
  return handleRange(indexes[0] ?? 0, (indexes.at(-1) ?? 0) + 1, systemCount)
}

function digestOf(subject: Subject, { start, end, text }: StandingSummary): string {
  const from = subject.structure.systemCount
  return subject.digest(`${start - from} ${end - from} ${text}`).slice(0, HOLDING_DIGEST_CHARS)
}
