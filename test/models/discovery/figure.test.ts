import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leastFigure, stated, withInputLimit } from '../../../src/models/discovery/figure.ts'
import { forAll } from '../../support/property-runs.ts'

const total = (value: unknown) => stated(value, 'total', 'loaded')
const input = (value: unknown) => stated(value, 'input', 'loaded')

describe('a figure that comes as text', () => {
  test.each([
    ['8192', 8192],
    [' 8192\n', 8192],
    ['+8192', 8192],
    ['8192.0', 8192],
  ])('%j is one', (text, tokens) => {
    expect(total(text)).toMatchObject({ tokens })
  })

  test.each(['unlimited', '8k', '8192 tokens', '1 000', '8192.5', '0x2000', '1e6', '-8192', '.', '+', '- 1'])(
    '%j is none',
    (text) => {
      expect(total(text)).toBe('implausible')
    },
  )

  test.each(['', ' ', '0', '0.0', '\t\n'])('%j says that it is not known', (text) => {
    expect(total(text)).toBeNull()
  })

  // The pattern for numbers tried every way to part a run of blanks in two before it gave up. A list in which one
  // figure was a string of 100,000 blanks and a letter kept the process from doing anything else for seconds.
  // No clock here: a pattern like that one would not come to an end with as many blanks.
  test.each([' '.repeat(5_000_000) + 'x', '1'.repeat(5_000_000), `${'1 '.repeat(2_500_000)}x`])(
    'a text of five million characters is none, at once',
    (text) => {
      expect(total(text)).toBe('implausible')
    },
  )

  test('whatever the text, it is a whole number in bounds, or nothing', () => {
    const text = fc.stringMatching(/^[ \t\d+.ex-]{0,40}$/)
    forAll(100, text, (value) => {
      const found = total(value)
      if (found === null || typeof found === 'string') return
      expect(Number.isInteger(found.tokens) && found.tokens >= 512 && found.tokens <= 20_000_000).toBe(true)
    })
  })
})

// Of two limits one was taken for both: with the whole window of 4,096 a prompt of 3,996 tokens was sent to a server
// that takes 3,072; with the prompt's limit alone a long reply would not have fitted beside it.
describe('a limit for the prompt and one for prompt and output', () => {
  test('of several deployments are the least of each', () => {
    const wide = withInputLimit(total(9000), input(3000))
    const narrow = withInputLimit(total(8000), input(7000))
    expect(leastFigure(wide, narrow)).toMatchObject({ tokens: 8000, kind: 'total', inputTokens: 3000 })
  })
})
