type Options = {
  /** Room for the whole text, headings included. */
  readonly tokensMax: number
  readonly count: (text: string) => number
  /** Whether a line of the text comes from a summary that was written before. */
  readonly isCarried: (line: string) => boolean
}

/**
 * What stands in for a competent cheap model: the same six sections each time, filled with the specific things and the
 * short phrases of the text, the most recent and most frequent first, and with those of the summary before as far as
 * room allows. It is a program: it invents nothing, understands nothing, and gives the same text for the same prompt.
 * What is specific is defined here apart from the recap and from `test/runs/fidelity/wanted.ts`, so that neither is
 * measured by its own rule.
 */
export function extractiveSummary(text: string, options: Options): string {
  const { tokensMax, count } = options
  const { fresh, carried } = read(text, options.isCarried)
  const names = rankedNames(fresh)
  const blocks = new Map<Section, string>()
  let left = tokensMax
  // Lines first: the room that they leave goes to the names, of which there are always more.
  const isOfLines = ({ kind }: Section) => Number(kind === 'lines')
  const order = sections.toSorted((one, other) => isOfLines(other) - isOfLines(one))
  for (const [place, section] of order.entries()) {
    const shareLeft = order.slice(place).reduce((sum, { share }) => sum + share, 0)
    const room = (left * section.share) / shareLeft
    const before = carried.get(section.heading) ?? []
    const own =
      section.kind === 'lines'
        ? phrases(fresh, section.pattern, before)
        : names.filter(({ name }) => pathLike.test(name) === (section.kind === 'paths')).map(section.spell)
    const earlier = section.kind === 'lines' ? before : before.flatMap((line) => line.split(BETWEEN))
    const items = fitting(alternating(own, earlier), room - count(section.heading), count)
    if (items.length === 0) continue
    const lines = section.kind === 'lines' ? items : grouped(items)
    const block = [section.heading, ...lines.map((line) => `${BULLET}${line}`)].join('\n')
    blocks.set(section, block)
    left -= count(block) + 1
  }
  return sections.flatMap((section) => blocks.get(section) ?? []).join('\n')
}

const BULLET = '- '
const BETWEEN = ' · '
const NAMES_A_LINE = 8
const PHRASE_CHARS_MAX = 160
const NAME_CHARS_MAX = 120

/** Six sections, the room shared among them; the first line that names something stands for the goal. */
const sections: readonly Section[] = [
  { heading: '## Goal and constraints', share: 8, kind: 'lines', pattern: 'first' },
  {
    heading: '## Decisions',
    share: 12,
    kind: 'lines',
    pattern: /\b(?:decid\w*|instead|because|let me|let's|i'll|will|should|need to|now)\b/i,
  },
  { heading: '## Facts', share: 30, kind: 'others', spell: ({ name, label }) => `${label}${name}` },
  { heading: '## Files and artifacts', share: 28, kind: 'paths', spell: ({ name }) => name },
  {
    heading: '## Tried and failed',
    share: 12,
    kind: 'lines',
    pattern: /\b(?:error|fail\w*|exception|cannot|can't|not found|refused|traceback)\b/i,
  },
  { heading: '## Open items and next steps', share: 10, kind: 'lines', pattern: 'last' },
]

type Section = { readonly heading: string; readonly share: number } & (
  | { readonly kind: 'lines'; readonly pattern: RegExp | 'first' | 'last' }
  | { readonly kind: 'paths' | 'others'; readonly spell: (name: Name) => string }
)

type Name = { readonly name: string; readonly label: string }

type Seen = { count: number; last: number; label: string }

const pathLike = /\/|\.[a-z]{1,5}$/i

/** Names of three digits and more, with a slash, an underscore, a dot or a capital inside. */
const isSpecific = /\d{3}|\w\/|\/\w|\w_\w|[a-z][A-Z]|[a-z_]\.[a-z_]/
const namesSomething = /\d{3}|\w_\w|[a-z][A-Z]|\w\/[\w/-]+[./]\w|\w\.[a-z]{1,4}\b/

function read(text: string, isCarried: (line: string) => boolean) {
  // A transcript may quote its messages as JSON, where a line break is two characters.
  const lines = text
    .replaceAll(/\\+[nrt]/g, '\n')
    .replaceAll(/\\+"/g, '"')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const fences = fencesIn(lines)
  const carried = new Map<string, string[]>()
  const fresh: string[] = []
  let heading = ''
  for (const line of lines) {
    if (fences.some((fence) => line.includes(fence))) continue
    if (sections.some((section) => section.heading === line)) heading = line
    else if (!isCarried(line)) fresh.push(line)
    else carried.set(heading, [...(carried.get(heading) ?? []), line.slice(BULLET.length)])
  }
  return { fresh, carried }
}

/**
 * What stands after the hyphen in a pair of tags that occurs once: `<data-8f2c61d0>` fences what lies between. Nobody
 * would name it in a summary, and who does has repeated the instructions.
 */
function fencesIn(lines: readonly string[]): readonly string[] {
  const tags = Map.groupBy(
    lines.filter((line) => /^<[a-z_]+-[\w-]{8,}>$/i.test(line)),
    (line) => line,
  )
  return [...tags].flatMap(([tag, all]) => {
    const isClosedOnce = lines.filter((line) => line === tag.replace('<', '</')).length === 1
    return all.length === 1 && isClosedOnce ? [tag.slice(tag.indexOf('-') + 1, -1)] : []
  })
}

function rankedNames(lines: readonly string[]): readonly Name[] {
  const seen = new Map<string, Seen>()
  for (const [index, line] of lines.entries()) {
    for (const match of line.matchAll(/[\w@~./+-]{3,}/g)) {
      const name = match[0].replace(/^(?:\.\/|[.+-])+|[.@~+/-]+$/g, '')
      if (name.length > NAME_CHARS_MAX || !isSpecific.test(name)) continue
      const known = seen.get(name) ?? { count: 0, last: 0, label: '' }
      seen.set(name, known)
      known.count += 1
      known.last = index
      known.label = /^[\d.]+$/.test(name) ? labelBefore(line, match.index) : ''
    }
  }
  const scoreOf = ({ count, last }: Seen) => Math.log2(1 + count) + (RECENCY_WEIGHT * last) / lines.length
  return [...seen]
    .toSorted(([, one], [, other]) => scoreOf(other) - scoreOf(one))
    .map(([name, { label }]) => ({ name, label }))
}

// The newest line weighs as much as having been named fifteen times.
const RECENCY_WEIGHT = 4

/** The two words before a bare number: without them it tells nobody anything. */
function labelBefore(line: string, index: number): string {
  const words = line.slice(Math.max(0, index - 40), index).match(/[\p{L}\d_]+/gu) ?? []
  const label = words.slice(-2).join(' ')
  return label === '' ? '' : `${label} `
}

/**
 * Lines of words that tell of something by its name, the newest first. Instructions name nothing, so that none of them
 * comes into a summary.
 */
function phrases(
  lines: readonly string[],
  pattern: RegExp | 'first' | 'last',
  before: readonly string[],
): readonly string[] {
  const told = lines
    .map((line) => line.replace(/^[-*•] /, ''))
    .filter(isPhrase)
    .map((line) => line.slice(0, PHRASE_CHARS_MAX))
  // The goal stays what it was.
  if (pattern === 'first') return before.length > 0 ? [] : told.slice(0, 1)
  const newest = [...new Set(told.toReversed())]
  return pattern === 'last' ? newest.slice(0, 3) : newest.filter((line) => pattern.test(line))
}

const isPhrase = (line: string): boolean =>
  / \S+ \S+ /.test(line) && !/^[<[{(#]/.test(line) && namesSomething.test(line)

/** New and carried by turns: neither crowds the other out, and nothing stands twice. */
function alternating(own: readonly string[], earlier: readonly string[]): readonly string[] {
  const both = Array.from({ length: Math.max(own.length, earlier.length) }, (_, index) => [
    own[index] ?? '',
    earlier[index] ?? '',
  ])
  return [...new Set(both.flat())].filter((item) => item !== '')
}

function fitting(
  items: readonly string[],
  roomTokens: number,
  count: (text: string) => number,
): readonly string[] {
  let left = roomTokens
  return items.filter((item) => {
    if (left <= 0) return false
    const tokens = count(`${BETWEEN}${item}`) + 1
    if (tokens > left) return false
    left -= tokens
    return true
  })
}

const grouped = (items: readonly string[]): readonly string[] =>
  Array.from({ length: Math.ceil(items.length / NAMES_A_LINE) }, (_, line) =>
    items.slice(line * NAMES_A_LINE, (line + 1) * NAMES_A_LINE).join(BETWEEN),
  )
