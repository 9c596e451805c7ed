import { expect, test } from 'vitest'
import { readOptions } from './options.ts'

const read = (...args: string[]) => readOptions(args, ['bodies', 'paths'], () => 7)

test('without options everything is fuzzed for a while, under a seed that is told', () => {
  expect(read()).toEqual({ seconds: 40, seed: 7, targets: ['bodies', 'paths'], path: null })
})

test('a counterexample is tried again as it was printed', () => {
  expect(read('--target', 'paths', '--seed', '12', '--path', '3:0:1')).toEqual({
    seconds: 40,
    seed: 12,
    targets: ['paths'],
    path: '3:0:1',
  })
})

// A run that tries nothing would find that nothing fails.
test.each([
  [['--target', 'headers'], 'There is no target headers; there are bodies, paths.'],
  [['--seconds', '0'], '--seconds takes a whole number above 0.'],
  [['--seconds', '1h'], '--seconds takes a whole number above 0.'],
  [['--seed', 'x'], '--seed takes a whole number.'],
  [['--target', 'paths', '--seed', '1', '--path', '1::2'], '--path takes numbers with colons between them.'],
  [['--path', '1:2'], '--path tries one counterexample again: it takes --target and --seed, too.'],
  [['--sceonds', '1'], expect.stringContaining("Unknown option '--sceonds'")],
])('%j is refused', (args, problem) => {
  expect(read(...args)).toEqual(problem)
})
