import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventBlocks } from '../../src/replies/event-blocks.ts'

const lines = fc.array(
  fc.tuple(
    fc.constantFrom('data: {"a":1}', ': hello', 'event: x', '', 'data'),
    fc.constantFrom('\n', '\r\n', '\r'),
  ),
  { maxLength: 30 },
)
const text = lines.map((each) => each.flat().join(''))

function cutAt(whole: string, places: readonly number[]): string[] {
  const ascending = places.map((place) => place % (whole.length + 1)).sort((a, b) => a - b)
  return [0, ...ascending].map((start, index) => whole.slice(start, ascending[index] ?? whole.length))
}

test('whatever comes in goes out again, in the same order, however it was cut', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), (whole, places) => {
      const blocks = createEventBlocks()
      const out = cutAt(whole, places).flatMap((piece) => blocks.feed(piece))
      expect(out.join('') + blocks.end()).toBe(whole)
    }),
  )
})

test('where it was cut does not change where events end', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), (whole, places) => {
      const [cut, uncut] = [createEventBlocks(), createEventBlocks()]
      const inPieces = cutAt(whole, places).flatMap((piece) => cut.feed(piece))
      expect([...inPieces, cut.end()]).toEqual([...uncut.feed(whole), uncut.end()])
    }),
  )
})

test.each([
  ['line feeds', 'data: 1\n\ndata: 2\n\n', ['data: 1\n\n', 'data: 2\n\n']],
  ['carriage returns and line feeds', 'data: 1\r\n\r\n: x\r\n\r\nd', ['data: 1\r\n\r\n', ': x\r\n\r\n']],
  ['both', 'data: 1\n\r\ndata: 2', ['data: 1\n\r\n']],
])('an event ends with its blank line: %s', (_, whole, events) => {
  expect(createEventBlocks().feed(whole)).toEqual(events)
})
