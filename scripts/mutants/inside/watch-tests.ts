/**
 * Copied into a checkout and loaded before each test file: says which test runs, and writes down what each has reached.
 * With `MUTANTS_WANTED`, a file that lists tests, all others are skipped.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, type RunnerTask } from 'vitest'

const folder = join(import.meta.dirname, 'reached')
mkdirSync(folder, { recursive: true })
const watched = (globalThis.watchedTests ??= { test: '', reached: new Map() })
const wantedFile = process.env['MUTANTS_WANTED']
const wanted = wantedFile === undefined ? null : new Set<string>(JSON.parse(readFileSync(wantedFile, 'utf8')))

const file = (): string => relative(import.meta.dirname, expect.getState().testPath ?? '')

function now(test: string): void {
  watched.test = test
  writeFileSync(join(folder, `${process.pid}.test`), test)
}

function isConcurrent(task: RunnerTask): boolean {
  return task.concurrent === true || (task.suite !== undefined && isConcurrent(task.suite))
}

beforeAll(() => now(file()))

beforeEach(({ task, skip }) => {
  // Of tests that run beside each other nobody knows which reaches what: they are one.
  const test = isConcurrent(task) ? file() : `${file()} > ${fullName(task)}`
  now(test)
  if (wanted !== null && !wanted.has(file()) && !wanted.has(test)) skip()
})

afterAll(() => {
  const lines = [...watched.reached].map(
    ([test, marks]) => `${JSON.stringify({ test, marks: [...marks] })}\n`,
  )
  appendFileSync(join(folder, `${process.pid}.jsonl`), lines.join(''))
  watched.reached.clear()
  now('')
})

/** As the report in JSON spells it. */
function fullName(task: RunnerTask): string {
  const names = [task.name]
  for (let { suite } = task; suite !== undefined && suite.name !== ''; { suite } = suite)
    names.unshift(suite.name)
  return names.join(' ')
}
