import { expect, test } from 'vitest'
import { readArguments } from '../../bench/arguments.ts'
import { renderPage } from '../../bench/page/page.ts'
import type { Check, Section } from '../../bench/section.ts'

const date = new Date('2026-11-22T10:00:00Z')

function pageOf(sections: readonly Section[]): string {
  return renderPage({
    date,
    effort: { rounds: 2, durationMs: 250, isQuick: true },
    command: 'npm run bench -- --quick',
    machine: [['Node', 'v24']],
    sections,
  })
}

function sectionWith(check: Partial<Check>): Section {
  const bound = { kind: 'at most', value: 2 } as const
  return {
    name: 'relay',
    title: 'Relaying',
    about: 'What was done.',
    tables: [{ caption: 'Table', columns: ['subject', 'ms'], rows: [['a|b', '1.5']] }],
    checks: [{ id: 'some-check', what: 'a ratio', bound, value: 1, spread: [1, 1], ...check }],
  }
}

test('a bound that is missed stands on the page, with its cause or that none is known', () => {
  const page = pageOf([sectionWith({ value: 2.5 })])
  expect(page).toContain('**missed**')
  expect(page).toContain('- `some-check`: The cause is not known yet.')
})

test('a bound that is kept needs no cause', () => {
  const page = pageOf([sectionWith({ value: 2 })])
  expect(page).not.toContain('missed')
  expect(page).toMatch(/`some-check` .* met/)
})

test('a figure that could not be had keeps no bound', () => {
  expect(pageOf([sectionWith({ value: Number.NaN })])).toContain('**missed**')
})

test('a page of quick rounds says so, and how it was made', () => {
  const page = pageOf([])
  expect(page).toContain('Made with `--quick`')
  expect(page).toContain('`npm run bench -- --quick`: 2 rounds, loads of 0.25 s')
})

test('a cell may hold what tables are made of', () => {
  expect(pageOf([sectionWith({})])).toContain('| a\\|b    | 1.5 |')
})

test('a whole run is kept under its date, one for trying is not', () => {
  expect(readArguments([], ['relay'], date)).toMatchObject({
    file: 'bench/results/2026-11-22.md',
    only: null,
  })
  expect(readArguments(['--quick'], ['relay'], date)).toMatchObject({ file: null, isQuick: true })
  expect(readArguments(['--only', 'relay'], ['relay'], date)).toMatchObject({ file: null, only: ['relay'] })
  expect(readArguments(['--quick', '--out', 'a.md'], ['relay'], date)).toMatchObject({ file: 'a.md' })
  expect(readArguments(['--beside', '../before'], ['relay'], date)).toMatchObject({
    file: null,
    beside: '../before',
  })
})

test('what cannot be meant is told', () => {
  expect(readArguments(['--only', 'rely'], ['relay', 'streams'], date)).toBe(
    'There is no measure "rely". There are: relay, streams.',
  )
  expect(readArguments(['--fast'], ['relay'], date)).toContain('--fast')
  expect(readArguments(['--only', 'relay', '--beside', 'a'], ['relay'], date)).toContain('leave out --only')
})
