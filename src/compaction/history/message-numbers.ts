/**
 * The number of a message, such as `#17`, by which marks, recaps and summaries refer to it and by which it is read back.
 * Counted from the end of the leading system block, as compactions are, so that it stays the message's own as long as the
 * conversation goes on.
 */
export function messageNumber(index: number, systemCount: number): string {
  return `#${index - systemCount + 1}`
}

/** How a mark states the number of its message; not at all where messages are not numbered. */
export function numberInMark(number: string | null): string {
  return number === null ? '' : `, ${number}`
}

/** The numbers of the messages from `start` up to `end`: `#3 to #9`. */
export function numberRange(start: number, end: number, systemCount: number): string {
  const first = messageNumber(start, systemCount)
  return end - start <= 1 ? first : `${first} to ${messageNumber(end - 1, systemCount)}`
}

/** The runs of these ascending numbers, each from `start` up to `end`. */
export function runsOf(ascending: readonly number[]) {
  const runs: { readonly start: number; end: number }[] = []
  for (const number of ascending) {
    const last = runs.at(-1)
    if (last?.end === number) last.end += 1
    else runs.push({ start: number, end: number + 1 })
  }
  return runs
}

/** The numbers of these messages, ascending, run by run: `#3 to #9, #12`; of many runs only where they begin and end. */
export function numbersOf(indexes: readonly number[], systemCount: number): string {
  const runs = runsOf(indexes)
  const [first] = runs
  const last = runs.at(-1)
  if (first === undefined || last === undefined) return ''
  if (runs.length > RUNS_NAMED_MAX) return `among ${numberRange(first.start, last.end, systemCount)}`
  return runs.map(({ start, end }) => numberRange(start, end, systemCount)).join(', ')
}

// --- internal ---

/** More runs are a list of numbers, which says less than it takes. */
const RUNS_NAMED_MAX = 4
