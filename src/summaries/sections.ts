import { thingsIn } from '../compaction/history/specific-names.ts'
import type { CountTokens } from '../compaction/history/history.ts'

/**
 * The sections that a summary is asked for, in their order: the heading, what belongs there, and its worth if not all
 * of them fit. The attempts that failed go first: they save a repetition, while the work cannot go on without the goal,
 * the open items or the facts.
 */
export const sections = [
  { heading: 'Goal and constraints', holds: 'what the user wants, rules, preferences', worth: 7 },
  { heading: 'Decisions', holds: 'what was decided, and why', worth: 3 },
  { heading: 'Facts', holds: 'exact values: names, ids, numbers, commands, errors, results', worth: 4 },
  { heading: 'Files and artifacts', holds: 'paths; what each is, its state', worth: 2.5 },
  { heading: 'Tried and failed', holds: 'and why it failed', worth: 1 },
  { heading: 'Open items and next steps', holds: 'what is unfinished, what comes next', worth: 5 },
  { heading: 'Latest request', holds: "the user's last request, word for word", worth: 6 },
] as const

/**
 * @internal exported for tests. The heading of the list that Foldgate itself adds below a summary: things of the one before
 * that the new one lost.
 */
export const KEPT_HEADING = 'Also named before'

/** A piece of a summary: a heading with what stands under it, or the text before the first heading. */
export type Section = {
  /** Without its marks; '' for text under no heading. */
  readonly heading: string
  /** All of it, heading included, without blank lines around it. */
  readonly text: string
}

/** The sections of a summary, in order. */
export function sectionsOf(summary: string): Section[] {
  const found: Section[] = []
  let lines: string[] = []
  let heading = ''
  let isCode = false
  function end(): void {
    const text = lines.join('\n').trim()
    if (text !== '') found.push({ heading, text })
    lines = []
  }
  for (const line of summary.split('\n')) {
    // In a block of code a `#` begins a comment.
    if (line.startsWith('```')) isCode = !isCode
    const named = isCode ? null : headingIn(line)
    if (named !== null) {
      end()
      heading = named
    }
    lines.push(line)
  }
  end()
  return found
}

/** The worth of a section if not all fit. One that was not asked for is worth more than the failed attempts, and less than the rest. */
export function worthOf({ heading }: Section): number {
  const lower = heading.toLowerCase()
  return sections.find((section) => lower.startsWith(section.heading.toLowerCase()))?.worth ?? UNASKED_WORTH
}

/**
 * Specific things that a summary no longer names, as a section of at most `tokensMax` that can be added to it: paths, ids,
 * addresses, numbers with their labels, each with the words before it. `before` are texts that named them, those that
 * count most first; '' if nothing was lost. Things that stood on such a list before come last, so that those that are
 * lost again and again fall off its end.
 */
export function lostThings(
  summary: string,
  before: readonly string[],
  tokensMax: number,
  count: CountTokens,
): string {
  const lines: string[] = []
  const named = new Set(specificsIn(summary).map(({ name }) => name))
  let left = tokensMax - count(`\n\n## ${KEPT_HEADING}\n`)
  for (const { name, label, excerpt } of ranked(before)) {
    if (named.has(name) || (label !== null && hasOtherNumber(summary, label))) continue
    const line = `- ${excerpt}`
    const tokens = count(`${line}\n`)
    if (tokens > left) continue
    left -= tokens
    lines.push(line)
    for (const also of specificsIn(excerpt)) named.add(also.name)
    named.add(name)
    if (lines.length >= LINES_MAX) break
  }
  return lines.length === 0 ? '' : [`## ${KEPT_HEADING}`, ...lines].join('\n')
}

/** Sections as a text. */
export function textOfSections(some: readonly Section[]): string {
  return some.map(({ text }) => text).join('\n\n')
}

/** A summary and the list of things that stands in it. */
export function withoutKept(summary: string): { readonly text: string; readonly kept: string } {
  const all = sectionsOf(summary)
  const kept = all.filter(({ heading }) => heading === KEPT_HEADING)
  if (kept.length === 0) return { text: summary, kept: '' }
  return { text: textOfSections(all.filter((each) => !kept.includes(each))), kept: textOfSections(kept) }
}

// --- internal ---

const UNASKED_WORTH = 2

/** The name in a heading of markdown, or in a line that is bold as a whole; null if a line is none. */
function headingIn(line: string): string | null {
  const match = /^(?:#{1,4}[ \t]+(.{1,120})|\*\*([^*]{1,120})\*\*:?[ \t]*)$/.exec(line.trimEnd())
  const name = match?.[1] ?? match?.[2]
  return name === undefined ? null : name.replace(/[*#:\s]+$/, '').replace(/^\*+/, '')
}

/** A list is read by a model; a longer one would be a summary of its own. Also bounds the work. */
const LINES_MAX = 64

/** The words before a thing tell its meaning. */
const EXCERPT_CHARS_BEFORE = 48

/** A thing that a text names, for example `src/a.ts`, or `port 8080`: a number counts together with its label. */
type Specific = { readonly name: string; readonly label: string | null; readonly excerpt: string }

/** The things of these texts: within one, those of its worthier sections first, and those that were listed before last. */
function ranked(texts: readonly string[]): Specific[] {
  const parts = texts.map(withoutKept)
  return [
    ...parts.flatMap(({ text }) =>
      sectionsOf(text)
        .sort((a, b) => worthOf(b) - worthOf(a))
        .flatMap((section) => specificsIn(section.text)),
    ),
    ...parts.flatMap(({ kept }) => specificsIn(kept)),
  ]
}

/** A number under its label: `retries: 3`, `port is 22`. */
const labelled =
  /(?<![\w.])([\p{L}][\p{L}\w-]{2,30})(?: is| =|=|:)? {0,2}(\d[\d.,-]{0,40}) ?(?:%|[a-zA-Z]{1,3}\b)?/gu

function specificsIn(text: string): Specific[] {
  return text.split('\n').flatMap((line) => {
    if (line.length > LINE_CHARS_MAX || line.startsWith('#')) return []
    const things = [...thingsIn(line)]
    const numbers = [...line.matchAll(labelled)].flatMap((match) => {
      const [whole, label = '', digits = ''] = match
      const name = `${label} ${digits.replace(/[.,-]+$/, '')}`.toLowerCase()
      const place = { start: match.index, end: match.index + whole.replace(/[\s.,-]+$/, '').length }
      // The first digits of an id are no number.
      const isPart = things.some((thing) => !/^[\d.,-]+$/.test(thing.name) && beginsIn(place, thing))
      return isPart ? [] : [{ name, label: label.toLowerCase(), ...place }]
    })
    const others = things.filter((thing) => !numbers.some((number) => beginsIn(number, thing)))
    return [...others.map((thing) => ({ ...thing, label: null })), ...numbers]
      .sort((a, b) => a.start - b.start)
      .map(({ name, label, start, end }) => ({ name, label, excerpt: excerptOf(line, start, end) }))
  })
}

/** A line of this length is data. */
const LINE_CHARS_MAX = 2000

type Place = { readonly start: number; readonly end: number }

function beginsIn(place: Place, { start }: Place): boolean {
  return start >= place.start && start < place.end
}

/** Whether the summary states a number under this label: then the old one was superseded, or is there. */
function hasOtherNumber(summary: string, label: string): boolean {
  const from = summary.toLowerCase()
  for (let at = from.indexOf(label); at !== -1; at = from.indexOf(label, at + 1)) {
    if (/^(?: is| =|=|:)? {0,2}\d/.test(from.slice(at + label.length, at + label.length + 8))) return true
  }
  return false
}

function excerptOf(line: string, start: number, end: number): string {
  const from = Math.max(0, start - EXCERPT_CHARS_BEFORE)
  const before = line.slice(from, start)
  // Whole words, and no mark of a list.
  const words = from === 0 ? before.replace(/^[\s*-]+/, '') : before.replace(/^\S*\s+/, '')
  return `${words}${line.slice(start, end)}`.trim()
}
