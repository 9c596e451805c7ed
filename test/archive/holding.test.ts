import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readHoldings, writeHolding } from '../../src/archive/holding.ts'

const digests = fc.stringMatching(/^[\w-]{16}$/)
const holdings = fc
  .record({
    messages: fc.uniqueArray(fc.integer({ min: 1, max: 60 })),
    summaries: fc.uniqueArray(digests, { maxLength: 3 }),
    point: fc.nat(100_000),
    key: digests,
  })
  .map(({ messages, summaries, ...rest }) => ({
    messages: new Set(messages),
    summaries: new Set(summaries),
    ...rest,
  }))

test('what a file holds is read from its last lines, whatever stands before them', () => {
  const some = fc.array(holdings, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(some, fc.string(), fc.option(holdings), (last, text, before) => {
      const lines = last.map(writeHolding).join('')
      const file = `${before === null ? '' : writeHolding(before)}${text}\n${lines}`
      expect(readHoldings(file)).toEqual(last)
      expect(readHoldings(lines)).toEqual(last)
    }),
  )
})

test('runs of messages are written as ranges', () => {
  const holding = {
    messages: new Set([3, 2, 4, 7, 9, 10]),
    summaries: new Set<string>(),
    point: 12,
    key: 'k',
  }
  expect(writeHolding(holding)).toBe('<!-- foldgate: holds 2-4,7,9-10 of 12 k; summaries  -->\n')
})

test('a file that says nothing, or broke off after it, holds nothing for certain', () => {
  const line = writeHolding({ messages: new Set([1]), summaries: new Set(), point: 2, key: 'k' })
  for (const text of ['', 'A text.\n', `${line}# more`, line.slice(0, -3), `x${line}`])
    expect(readHoldings(text)).toEqual([])
})

const lineOf = (ranges: string): string => `<!-- foldgate: holds ${ranges} of 3 k; summaries  -->\n`

// Whoever may write in the folder could have stopped the process: each range is walked through.
test('a line that names more messages than there can be, or the same ones often, takes no time', () => {
  const [held] = readHoldings(lineOf('9999990-99999999999999'))
  expect(held?.messages.size).toBe(0)
  // Walked through each time it would outlast the test.
  const [often] = readHoldings(lineOf('1-999999,'.repeat(20_000)))
  expect(often?.messages.size).toBe(999_999)
})
