import { expect, test } from 'vitest'
import { readArguments } from '../../bench/arguments.ts'
import { renderPage } from '../../bench/page/page.ts'
import type { Check, Section } from '../../bench/section.ts'

const date = new Date('2026-11-22T10:00:00Z')

const effort = { rounds: 2, durationMs: 250, isQuick: true }

const pageOf = (sections: readonly Section[]): string =>
  renderPage({ date, effort, command: 'npm run bench -- --quick', machine: [['Node', 'v24']], sections })

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

test('a bound that is missed stands on the page, with its cause or that none is known; one that is kept needs none', () => {
  const missed = pageOf([sectionWith({ value: 2.5 })])
  expect(missed).toContain('**missed**')
  expect(missed).toContain('- `some-check`: The cause is not known yet.')
  // A figure that could not be had keeps no bound.
  expect(pageOf([sectionWith({ value: Number.NaN })])).toContain('**missed**')
  const kept = pageOf([sectionWith({ value: 2 })])
  expect(kept).not.toContain('missed')
  expect(kept).toMatch(/`some-check` .* met/)
  // A cell may hold what tables are made of.
  expect(kept).toContain('| a\\|b    | 1.5 |')
})

test('a page of quick rounds says so, and how it was made', () => {
  const page = pageOf([])
  expect(page).toContain('Made with `--quick`')
  expect(page).toContain('`npm run bench -- --quick`: 2 rounds, loads of 0.25 s')
})

test.each([
  [[], { file: 'bench/results/2026-11-22.md', only: null }],
  [['--quick'], { file: null, isQuick: true }],
  [['--only', 'relay'], { file: null, only: ['relay'] }],
  [['--quick', '--out', 'a.md'], { file: 'a.md' }],
  [['--beside', '../before'], { file: null, beside: '../before' }],
])('a whole run is kept under its date, one for trying is not: %j', (args, told) => {
  expect(readArguments(args, ['relay'], date)).toMatchObject(told)
})

test.each([
  [['--only', 'rely'], 'There is no measure "rely". There are: relay, streams.'],
  [['--fast'], '--fast'],
  [['--only', 'relay', '--beside', 'a'], 'leave out --only'],
])('what cannot be meant is told: %j', (args, told) => {
  expect(readArguments(args, ['relay', 'streams'], date)).toContain(told)
})
