import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEventCutter, type EventPiece } from '../../../src/request/send/event-cutter.ts'

const written = fc.array(fc.constantFrom('data: a', ': b', 'x', '\n', '\r', '\r\n', '\n\n'), {
  maxLength: 40,
})

/** A stream in parts that are cut where these numbers say. */
function partsOf(text: string, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b)
  return places.slice(1).map((end, index) => Buffer.from(text.slice(places[index], end)))
}

test('what is taken comes out again, byte for byte, wherever it was cut and however little may be held', () => {
  fc.assert(
    fc.property(
      written,
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.constantFrom(1, 4, 1_000),
      (lines, cuts, eventBytesMax) => {
        const text = lines.join('')
        const cutter = createEventCutter({ eventBytesMax })
        const pieces = partsOf(text, cuts).flatMap((part) => cutter.feed(part))
        expect(Buffer.concat([...pieces.map(({ bytes }) => bytes), cutter.end()]).toString()).toBe(text)
      },
    ),
  )
})

// A server that sent nothing but line ends held the event loop for 60 to 90 ms: a piece was made of each of them.
test('line ends too many come together, and the event behind them alone', () => {
  const cutter = createEventCutter({ eventBytesMax: 1_000 })
  const pieces: readonly EventPiece[] = cutter.feed(Buffer.from('\n\r\n\r\rdata: a\n\n\n\n: b\n'))
  expect(pieces.map(({ kind, bytes }) => [kind, bytes.toString()])).toEqual([
    ['event', '\n\r\n\r\r'],
    ['event', 'data: a\n\n'],
    ['event', '\n\n'],
    ['event', ': b\n'],
  ])
})
