import type { Row, Section } from './fault.ts'

/** The page of what was observed. `observed` has the rows by the fault's name; those that are `impossible` here stand as they stood. */
export function faultPage(
  sections: readonly Section[],
  observed: ReadonlyMap<string, readonly Row[]>,
  standing: string,
): string {
  const parts = [
    '# Faults',
    'What happens when something around Foldgate goes wrong. Each line is what a test saw, written down by it: `npm run faults` makes every fault happen, over real sockets, processes and files, and compares; `npm run faults -- -u` writes this page anew.',
  ]
  for (const section of sections) {
    const lines = linesOf(section, observed, standing)
    const head = ['| fault | request | the client sees | recorded | lost |', '|---|---|---|---|---|']
    parts.push(`## ${section.title}`, section.about, [...head, ...lines].join('\n'))
  }
  return `${parts.join('\n\n')}\n`
}

/** Names a fault among all. */
export const keyOf = (section: Section, faultName: string): string => `${section.title}: ${faultName}`

/** Whether a page says of a fault just what was observed of it. */
export function saysSo(page: string, { title }: Section, faultName: string, rows: readonly Row[]): boolean {
  const said = sectionOf(page, title).filter((text) => namesIn(text).includes(faultName))
  const seen = rows.map((row) => line(faultName, row))
  return JSON.stringify(said.map(withoutNames)) === JSON.stringify(seen.map(withoutNames))
}

const line = (name: string, { met, seen, recorded, lost }: Row): string =>
  `| ${[name, met, seen, recorded, lost].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** Faults of which the same was observed share their lines, but for those that some machines cannot make happen. */
function linesOf(
  section: Section,
  observed: ReadonlyMap<string, readonly Row[]>,
  standing: string,
): readonly string[] {
  const shared = new Map<string, string[]>()
  const lines: (() => readonly string[])[] = []
  for (const { name, impossible } of section.faults) {
    const rows = observed.get(keyOf(section, name))
    const same = impossible === undefined ? shared.get(JSON.stringify(rows)) : undefined
    if (rows === undefined)
      lines.push(() => sectionOf(standing, section.title).filter((text) => text.startsWith(`| ${name} | `)))
    else if (same !== undefined) same.push(name)
    else {
      const names = [name]
      shared.set(JSON.stringify(rows), names)
      lines.push(() => rows.map((row) => line(names.join('<br>'), row)))
    }
  }
  return lines.flatMap((each) => each())
}

/** The lines of a section of a page; none where it has no such section. */
function sectionOf(page: string, title: string): readonly string[] {
  const from = page.indexOf(`## ${title}\n`)
  return from === -1 ? [] : (page.slice(from + 3).split('\n## ')[0] ?? '').split('\n')
}

const namesIn = (text: string): readonly string[] => (/^\| (.*?) \| /.exec(text)?.[1] ?? '').split('<br>')

const withoutNames = (text: string): string => text.replace(/^\| .*? \| /, '')
