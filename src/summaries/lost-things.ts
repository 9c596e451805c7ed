import { thingsIn } from '../subject/things.ts'
import type { CountTokens } from '../subject/subject.ts'
import { KEPT_HEADING, sectionsOf, worthOf } from './sections.ts'

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

/** A summary and the list of things that stands in it. */
export function withoutKept(summary: string): { readonly text: string; readonly kept: string } {
  const all = sectionsOf(summary)
  const textOf = (isKept: boolean): string =>
    all
      .filter(({ heading }) => (heading === KEPT_HEADING) === isKept)
      .map(({ text }) => text)
      .join('\n\n')
  return all.some(({ heading }) => heading === KEPT_HEADING)
    ? { text: textOf(false), kept: textOf(true) }
    : { text: summary, kept: '' }
}

// --- internal ---

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

/** A number of fewer than three digits, which is a fact only under its label: `retries: 3`, `port is 22`. */
const labelled =
  /(?<![\w.])([\p{L}][\p{L}\w-]{2,30})(?: is| =|=|:)? {0,2}(\d[\d.,]{0,11}) ?(%|[a-zA-Z]{1,3}\b)?/gu

function specificsIn(text: string): Specific[] {
  return text.split('\n').flatMap((line) => {
    if (line.length > LINE_CHARS_MAX || line.startsWith('#')) return []
    const things = [...thingsIn(line)].map(({ name, start, end }) => {
      const label = isNumber(name) ? labelBefore(line, start) : null
      return {
        name: label === null ? name : `${label} ${name}`,
        label,
        excerpt: excerptOf(line, start, end),
        start,
      }
    })
    const numbers = [...line.matchAll(labelled)].flatMap((match) => {
      const [whole, label = '', digits = ''] = match
      const number = digits.replace(/[.,]+$/, '')
      const end = match.index + whole.trimEnd().length
      return things.some(({ start }) => start >= match.index && start < end)
        ? []
        : [
            {
              name: `${label.toLowerCase()} ${number}`,
              label: label.toLowerCase(),
              excerpt: excerptOf(line, match.index, end),
              start: match.index,
            },
          ]
    })
    return [...things, ...numbers].sort((a, b) => a.start - b.start)
  })
}

/** A line of this length is data. */
const LINE_CHARS_MAX = 2000

function isNumber(name: string): boolean {
  return /^[\d.,-]+$/.test(name)
}

function labelBefore(line: string, start: number): string | null {
  const before = line.slice(Math.max(0, start - 40), start)
  return /([\p{L}][\p{L}\w-]{2,30})(?: is| =|=|:)? {0,2}$/u.exec(before)?.[1]?.toLowerCase() ?? null
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
