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

/** The lines of this kind at the end of a text: none if the file broke off. */
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
