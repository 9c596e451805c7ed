import { expect, test } from 'vitest'
import { mergedDelta } from '../../../src/formats/chat/reply/merged-delta.ts'

const details = (...list: readonly object[]) => ({ reasoning_details: list })

test('pieces of one index that come one after the other are one, wherever they come', () => {
  const all = [
    details({ index: 0, type: 'reasoning.text', text: 'so ' }, { index: 1, text: 'and ' }),
    details({ index: 1, text: 'then' }),
    details({ index: 0, text: 'it is' }),
    details({ text: 'alone' }),
    details({ text: 'alone, too' }),
  ].reduce(mergedDelta, {})
  expect(all).toEqual(
    details(
      { index: 0, type: 'reasoning.text', text: 'so it is' },
      { index: 1, text: 'and then' },
      { text: 'alone' },
      { text: 'alone, too' },
    ),
  )
})

// A signature was written into the text that it stood beside, both of index 0.
test('what comes together stays apart, and nothing that was given is changed', () => {
  const given = details(
    { index: 0, type: 'reasoning.text', text: 'a' },
    { index: 0, type: 'reasoning.encrypted', data: 'x' },
  )
  const before = structuredClone(given)
  expect(mergedDelta({}, given)).toEqual(before)
  const more = mergedDelta(given, details({ index: 0, text: 'b' }))
  expect(more).toEqual(
    details(
      { index: 0, type: 'reasoning.text', text: 'ab' },
      { index: 0, type: 'reasoning.encrypted', data: 'x' },
    ),
  )
  expect(given).toEqual(before)
})
