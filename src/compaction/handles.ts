/**
 * The name of a message by which marks, recaps and summaries refer to it, and by which it is read back. Counted from
 * the end of the leading system block, as compactions are, so that it stays the message's own as long as the conversation
 * goes on.
 */
export function handleOf(index: number, systemCount: number): string {
  return `#${index - systemCount + 1}`
}

/** How a mark names the message that it stands in: where messages have no names, not at all. */
export function namedInMark(handle: string | null): string {
  return handle === null ? '' : `, ${handle}`
}

/** The messages from `start` up to `end`, by their names. */
export function handleRange(start: number, end: number, systemCount: number): string {
  const first = handleOf(start, systemCount)
  return end - start <= 1 ? first : `${first} to ${handleOf(end - 1, systemCount)}`
}

/** These messages, ascending, by the names of their runs; of many runs only where they begin and end. */
export function handlesOf(indexes: readonly number[], systemCount: number): string {
  const runs: { readonly start: number; readonly end: number }[] = []
  for (const index of indexes) {
    const last = runs.at(-1)
    if (last?.end === index) runs[runs.length - 1] = { start: last.start, end: index + 1 }
    else runs.push({ start: index, end: index + 1 })
  }
  const [first] = runs
  const last = runs.at(-1)
  if (first === undefined || last === undefined) return ''
  if (runs.length > RUNS_NAMED_MAX) return `among ${handleRange(first.start, last.end, systemCount)}`
  return runs.map(({ start, end }) => handleRange(start, end, systemCount)).join(', ')
}

// --- internal ---

/** More runs are a list of numbers, which says less than it takes. */
const RUNS_NAMED_MAX = 4
