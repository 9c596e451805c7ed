import { expect, test } from 'vitest'
import { journalRowsMax } from '../../src/stores/journals.ts'

const MEGABYTE = 1024 * 1024

test.each([
  [1, 100],
  [5, 218],
  [64, 2_796],
  [512, 20_000],
  [1_048_576, 20_000],
])('in a store of %i MB a journal holds %i rows', (megabytes, rows) => {
  expect(journalRowsMax(megabytes * MEGABYTE)).toBe(rows)
})
