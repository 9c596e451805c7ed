import type { CountTokens } from '../subject/subject.ts'
import { sectionsOf, worthOf, type Section } from './sections.ts'

/** The part of a summary that fits, and the rest. */
export type Fitted = { readonly text: string; readonly dropped: string }

/**
 * A summary cut to `tokensMax`: whole sections, the worthiest first as far as they fit, in their order. If none fits, whole
 * lines from the beginning of the worthiest. Null if nothing whole is left.
 */
export function fitSections(summary: string, tokensMax: number, count: CountTokens): Fitted | null {
  if (count(summary) <= tokensMax) return { text: summary, dropped: '' }
  const all = pieces(summary)
  const ranked = all
    .map((section, position) => ({ section, position, tokens: count(section.text) + BREAK_TOKENS }))
    .sort((a, b) => worthOf(b.section) - worthOf(a.section) || a.position - b.position)
  const kept = new Set<number>()
  let left = tokensMax
  for (const { position, tokens } of ranked) {
    if (tokens > left) continue
    kept.add(position)
    left -= tokens
  }
  const worthiest = ranked[0]
  if (kept.size === 0)
    return worthiest === undefined ? null : firstLines(summary, worthiest.section, tokensMax, count)
  const textOf = (isKept: boolean): string =>
    all
      .filter((_, position) => kept.has(position) === isKept)
      .map(({ text }) => text)
      .join('\n\n')
  return { text: textOf(true), dropped: textOf(false) }
}

/** A summary that broke off, without the section that it broke off in; null if that was its first. */
export function withoutUnfinished(summary: string): string | null {
  const whole = pieces(summary).slice(0, -1)
  return whole.length === 0 ? null : whole.map(({ text }) => text).join('\n\n')
}

// --- internal ---

/** The blank line between two sections. */
const BREAK_TOKENS = 2

/** The sections; of a text without headings its paragraphs. */
function pieces(summary: string): Section[] {
  const found = sectionsOf(summary)
  if (found.some(({ heading }) => heading !== '')) return found
  return summary
    .split(/\n[ \t]*\n/)
    .map((text) => ({ heading: '', text: text.trim() }))
    .filter(({ text }) => text !== '')
}

function firstLines(
  summary: string,
  { text }: Section,
  tokensMax: number,
  count: CountTokens,
): Fitted | null {
  const lines = text.split('\n')
  let tokens = 0
  let end = 0
  for (const line of lines) {
    tokens += count(`${line}\n`)
    if (tokens > tokensMax) break
    end += 1
  }
  const kept = lines.slice(0, end).join('\n').trim()
  // A heading alone says nothing.
  if (kept === '' || (end < 2 && sectionsOf(kept)[0]?.heading !== '')) return null
  return { text: kept, dropped: summary.replace(kept, () => '').trim() }
}
