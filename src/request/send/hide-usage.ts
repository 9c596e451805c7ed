import type { UsageHider } from '../../dialects/answer-contract.ts'
import type { BodyTransform } from '../../http/deliver.ts'
import { createEventCutter } from './event-cutter.ts'

/**
 * Takes out of a stream the usage that only Foldgate asked for. What goes on keeps its bytes; an event goes on once it is
 * complete, and one that the hider keeps waiting when the next is there, or is overdue.
 */
export function hidingUsage(hider: UsageHider): BodyTransform {
  const cutter = createEventCutter({ eventBytesMax: EVENT_BYTES_MAX })

  function take(event: Buffer): readonly Buffer[] {
    const text = event.toString('latin1')
    return hider.take(text).map((each) => (each === text ? event : Buffer.from(each, 'latin1')))
  }

  function released(): Buffer {
    return Buffer.from(hider.release(), 'latin1')
  }

  function feed(piece: Buffer): Buffer {
    const out: Buffer[] = []
    for (const { kind, bytes } of cutter.feed(piece)) {
      if (kind === 'event') out.push(...take(bytes))
      else if (kind === 'line-feed')
        out.push(Buffer.from(hider.takeLineFeed(bytes.toString('latin1')), 'latin1'))
      else out.push(released(), bytes)
    }
    return joined(out)
  }

  return {
    feed,
    end: () => joined([...take(cutter.end()), released()]),
    overdue: released,
    // Half of an event is all that came of it.
    broken: () => Buffer.concat([released(), cutter.end()]),
  }
}

// --- internal ---

/** An event of an answer takes a few hundred bytes. What is longer goes on, so that little is kept. */
const EVENT_BYTES_MAX = 64 * 1024

/** One buffer of several; what is a single piece is not copied. */
function joined(all: readonly Buffer[]): Buffer {
  const [first, ...others] = all.filter((each) => each.length > 0)
  return first !== undefined && others.length === 0 ? first : Buffer.concat(all)
}
