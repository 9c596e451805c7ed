import { describe, expect, test } from 'vitest'
import { thingsOf } from './things.ts'

describe('what is a thing', () => {
  test.each([
    ['a path', 'see ./src/app/main.ts, line 12', 'src/app/main.ts'],
    ['an absolute path', 'in /testbed:', '/testbed'],
    ['an id', 'order ORD-88213 is late', 'ORD-88213'],
    ['a commit', 'since 7f7a364.', '7f7a364'],
    ['a number of three digits', 'exit code: 137.', '137'],
    ['an e-mail address', 'ask <ann.lee@example.org>', 'ann.lee@example.org'],
    ['inner capitals', 'call readFile()', 'readFile'],
    ['an underscore', '`xfailed_key`', 'xfailed_key'],
    ['dots', 'item.config.option', 'item.config.option'],
  ])('%s', (_, text, thing) => {
    expect([...thingsOf(text)]).toEqual([thing])
  })
})

test('what is no thing', () => {
  const text = 'The answer, e.g. <output>yes</output>, was 42 or 3.5; sed -i 7 /d. Done.'
  expect([...thingsOf(text)]).toEqual([])
})

test('data is no thing', () => {
  expect([...thingsOf('aB_9'.repeat(100))]).toEqual([])
})
