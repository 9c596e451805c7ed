import { shapeOf } from '../../upstream/answer-shape.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import type { BodyTransform } from '../../http/deliver.ts'
import { createEventCutter } from './event-cutter.ts'
import { EVENT_BYTES_MAX, readForUsage, withEntries, type Shown } from './usage-event.ts'

/** What hides the usage that only Foldgate asked for in this answer; null where there can be none, or none is read. */
export function usageHiderFor(answer: Answer): BodyTransform | null {
  return shapeOf(answer) === 'stream' ? createUsageHider() : null
}

/**
 * Makes of a stream that was asked for usage the one that was not: events that state it are taken out, and so is a
 * `usage` that is null. What such an event says besides belongs to the event that ended the reply, which waits for it
 * until the next event is there (or is overdue). Every other byte goes on as it came, once its event is complete.
 *
 * @internal exported for tests
 */
export function createUsageHider(): BodyTransform {
  const cutter = createEventCutter({ eventBytesMax: EVENT_BYTES_MAX })
  const finished = new Set<number>()
  /** The event that ended the reply, while what else belongs to it may still come. */
  let waiting: Shown | null = null
  let isLastHidden = false

  function take(event: Buffer): readonly Buffer[] {
    const reading = readForUsage(event, finished)
    isLastHidden = reading.kind === 'usage'
    if (reading.kind === 'usage') {
      const ended = waiting === null ? nothing : withEntries(waiting, reading.entries)
      waiting = null
      return [ended, reading.comments]
    }
    const before = released()
    for (const index of reading.finishes) finished.add(index)
    if (reading.finishes.length === 0) return [before, reading.bytes]
    waiting = reading
    return [before]
  }

  /** A line feed shares the fate of the event that it ends. */
  function takeLineFeed(lineFeed: Buffer): readonly Buffer[] {
    if (isLastHidden) return []
    if (waiting === null) return [lineFeed]
    waiting = { ...waiting, bytes: Buffer.concat([waiting.bytes, lineFeed]) }
    return []
  }

  function released(): Buffer {
    const bytes = waiting?.bytes ?? nothing
    waiting = null
    return bytes
  }

  function feed(piece: Buffer): Buffer {
    const out: Buffer[] = []
    for (const { kind, bytes } of cutter.feed(piece)) {
      if (kind === 'event') out.push(...take(bytes))
      else if (kind === 'line-feed') out.push(...takeLineFeed(bytes))
      else out.push(released(), bytes)
    }
    return joined(out)
  }

  return {
    feed,
    end: () => joined([...take(cutter.end()), released()]),
    overdue: released,
    // Half of an event is all that came of it.
    broken: () => joined([released(), cutter.end()]),
  }
}

// --- internal ---

const nothing = Buffer.alloc(0)

/** One buffer of several; a view where they lie behind one another as they do in the piece that they came in. */
function joined(all: readonly Buffer[]): Buffer {
  const [first = nothing, ...others] = all.filter((each) => each.length > 0)
  let end = first.byteOffset + first.length
  for (const each of others) {
    if (each.buffer !== first.buffer || each.byteOffset !== end) return Buffer.concat([first, ...others])
    end += each.length
  }
  return Buffer.from(first.buffer, first.byteOffset, end - first.byteOffset)
}
