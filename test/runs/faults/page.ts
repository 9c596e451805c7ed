import { readFile } from 'node:fs/promises'
import type { Row, Section } from './fault.ts'

/** The page of what was observed. `observed` has the rows by the fault's name; those that are `impossible` here stand as they stood. */
export function faultPage(
  sections: readonly Section[],
  observed: ReadonlyMap<string, readonly Row[]>,
  standing: string,
): string {
  return `${[
    '# Faults',
    'What happens when something around Foldgate goes wrong. Each line is what a test saw, written down by it: `npm run faults` makes every fault happen, over real sockets, processes and files, and compares; `npm run faults -- -u` writes this page anew.',
    ...sections.flatMap((section) => [
      `## ${section.title}`,
      section.about,
      [
        '| fault | request | the client sees | recorded | lost |',
        '|---|---|---|---|---|',
        ...linesOf(section, observed, standing),
      ].join('\n'),
    ]),
  ].join('\n\n')}\n`
}

/** Names a fault among all. */
export function keyOf(section: Section, faultName: string): string {
  return `${section.title}: ${faultName}`
}

/** Whether a page says of a fault just what was observed of it. */
export function saysSo(page: string, { title }: Section, faultName: string, rows: readonly Row[]): boolean {
  const said = sectionOf(page, title).filter((text) => namesIn(text).includes(faultName))
  const seen = rows.map((row) => line(faultName, row))
  return JSON.stringify(said.map(withoutNames)) === JSON.stringify(seen.map(withoutNames))
}

/** The page as it stands; empty where there is none. */
export async function standingPage(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

// --- internal ---

function line(name: string, { met, seen, recorded, lost }: Row): string {
  return `| ${[name, met, seen, recorded, lost].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** Faults of which the same was observed share their lines, but for those that some machines cannot make happen. */
function linesOf(
  section: Section,
  observed: ReadonlyMap<string, readonly Row[]>,
  standing: string,
): readonly string[] {
  const shared = new Map<string, { names: string[]; rows: readonly Row[] }>()
  const lines: (() => readonly string[])[] = []
  for (const fault of section.faults) {
    const rows = observed.get(keyOf(section, fault.name))
    const same = fault.impossible === undefined ? shared.get(JSON.stringify(rows)) : undefined
    if (rows === undefined) lines.push(() => standingLines(standing, section.title, fault.name))
    else if (same !== undefined) same.names.push(fault.name)
    else {
      const group = { names: [fault.name], rows }
      shared.set(JSON.stringify(rows), group)
      lines.push(() => group.rows.map((row) => line(group.names.join('<br>'), row)))
    }
  }
  return lines.flatMap((each) => each())
}

function standingLines(page: string, title: string, name: string): readonly string[] {
  return sectionOf(page, title).filter((text) => text.startsWith(`| ${name} | `))
}

/** The lines of a section of a page; none where it has no such section. */
function sectionOf(page: string, title: string): readonly string[] {
  const from = page.indexOf(`## ${title}\n`)
  if (from === -1) return []
  const [section = ''] = page.slice(from + 3).split('\n## ')
  return section.split('\n')
}

function namesIn(text: string): readonly string[] {
  return (/^\| (.*?) \| /.exec(text)?.[1] ?? '').split('<br>')
}

function withoutNames(text: string): string {
  return text.replace(/^\| .*? \| /, '')
}
