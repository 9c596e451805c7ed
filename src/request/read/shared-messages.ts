import type { PlacedSpan } from '../../conversation/body-spans.ts'

/** A body whose messages are known. */
export type DelimitedBody = {
  readonly bytes: Buffer
  /** Where the bracket of its messages stands. */
  readonly arrayStart: number
  readonly messages: readonly PlacedSpan[]
}

/**
 * With how many messages of `known` a body begins whose messages stand at `arrayStart`, byte for byte, separators
 * included. Only memory is compared: nothing of the body has to be read for it.
 */
export function sharedCount(known: DelimitedBody, bytes: Buffer, arrayStart: number): number {
  const isSame = (from: number, to: number): boolean => {
    const [start, end] = [endOf(known, from), endOf(known, to)]
    const moved = arrayStart - known.arrayStart
    if (end + moved > bytes.length) return false
    return known.bytes.compare(bytes, start + moved, end + moved, start, end) === 0
  }
  const all = known.messages.length
  // Mostly it goes on from the end, or from the message before.
  for (const count of [all, all - 1]) if (count > 0 && isSame(0, count)) return count
  let shared = 0
  let different = Math.max(0, all - 1)
  while (shared < different - 1) {
    const middle = (shared + different) >>> 1
    if (isSame(shared, middle)) shared = middle
    else different = middle
  }
  return shared
}

/** How many messages they share, judged by a few bytes: a guess that is made at once. */
export function likelyCount(known: DelimitedBody, bytes: Buffer, arrayStart: number): number {
  const moved = arrayStart - known.arrayStart
  const isSame = (start: number, end: number): boolean =>
    end + moved <= bytes.length && known.bytes.compare(bytes, start + moved, end + moved, start, end) === 0
  // Ids stand where a message begins, and what it says last where it ends.
  const looksSame = (count: number): boolean => {
    const start = known.messages[count - 1]?.start ?? known.arrayStart
    const end = endOf(known, count)
    return (
      isSame(start, Math.min(end, start + PROBE_BYTES)) && isSame(Math.max(start, end - PROBE_BYTES), end)
    )
  }
  const all = known.messages.length
  if (all > 1 && !looksSame(all) && looksSame(all - 1)) return all - 1
  for (let count = all; count > 0; count >>>= 1) if (looksSame(count)) return count
  return 0
}

// --- internal ---

/** How much of a message's beginning and end is compared. */
const PROBE_BYTES = 96

/** Where the first `count` messages end, with what the last one stands in; 0: behind the bracket's place. */
export function endOf(
  { messages, arrayStart }: Pick<DelimitedBody, 'messages' | 'arrayStart'>,
  count: number,
): number {
  const last = messages[count - 1]
  return (last?.envelope ?? last)?.end ?? arrayStart
}
