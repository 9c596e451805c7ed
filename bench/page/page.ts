import { causes } from '../causes.ts'
import type { Check, Effort, Section } from '../section.ts'
import { shown, shownSpread } from '../shown.ts'
import { markdownTable } from './markdown.ts'
import { isMet } from './verdict.ts'

export type Page = {
  readonly date: Date
  readonly effort: Effort
  /** As it was typed, so that the page can be made again. */
  readonly command: string
  readonly machine: readonly (readonly [string, string])[]
  readonly sections: readonly Section[]
}

/** The result page, as Markdown. */
export function renderPage(page: Page): string {
  const { date, effort, machine, sections } = page
  const checks = sections.flatMap((section) => section.checks)
  const missed = checks.filter((check) => !isMet(check))
  const parts = [
    `# Bench of ${date.toISOString().slice(0, 10)}`,
    ...(effort.isQuick
      ? ['**Made with `--quick`: few and short rounds, to try the bench. These figures say little.**']
      : []),
    `Made with \`${page.command}\`: ${effort.rounds} rounds, loads of ${effort.durationMs / 1000} s, unless it says otherwise. What each figure means stands in [bench/README.md](../README.md). Absolute figures are this machine's; ratios are taken within a round, and carry over better.`,
    markdownTable({ columns: ['machine', ''], rows: machine }),
    '## Bounds',
    checks.length === 0 ? 'Nothing that was measured has a bound.' : checksTable(checks),
    ...(missed.length === 0 ? [] : ['### Missed, and why', missed.map(causeOf).join('\n')]),
    ...sections.flatMap(renderSection),
  ]
  return `${parts.join('\n\n')}\n`
}

/** A missed check in a line, for the terminal. */
export function describeMiss(check: Check): string {
  return `${check.id}: ${check.what}: ${shown(check.value)} (${shownSpread(check.spread)}), bound ${boundOf(check)}`
}

// --- internal ---

function checksTable(checks: readonly Check[]): string {
  return markdownTable({
    columns: ['check', 'what', 'bound', 'median', 'spread', ''],
    rows: checks.map((check) => [
      `\`${check.id}\``,
      check.what,
      boundOf(check),
      shown(check.value),
      shownSpread(check.spread),
      isMet(check) ? 'met' : '**missed**',
    ]),
  })
}

function boundOf({ bound }: Check): string {
  return `${bound.kind} ${bound.value}`
}

function causeOf({ id }: Check): string {
  return `- \`${id}\`: ${causes[id] ?? 'The cause is not known yet.'}`
}

function renderSection({ title, about, tables }: Section): string[] {
  return [`## ${title}`, about, ...tables.flatMap((table) => [`**${table.caption}**`, markdownTable(table)])]
}
