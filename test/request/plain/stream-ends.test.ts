import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Answers } from '../../../src/dialects/answer-contract.ts'
import { chatCompletions } from '../../../src/dialects/chat-completions/chat-completions.ts'
import { messages } from '../../../src/dialects/messages/messages.ts'
import { responses } from '../../../src/dialects/responses/responses.ts'
import { createTailObserver } from '../../../src/overflow/tail-observer.ts'
import { keepStreamEnds } from '../../../src/request/plain/stream-ends.ts'
import { apis, type Api } from './plain-stand.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const [chat, message, response] = apis
const streams: readonly (readonly [string, Api, number, Answers])[] = [
  [chat.name, chat, 1, chatCompletions.answers],
  [message.name, message, 2, messages.answers],
  [response.name, response, 1, responses.answers],
]

/** A stream of a reply of some 60 KB: its delta stands in it many times, with characters of several bytes. */
function longStream({ streamed }: Api, deltaAt: number): Buffer {
  const delta = (streamed[deltaAt] ?? '').replace('Fi', 'Fä😀i')
  const deltas = Array.from({ length: Math.ceil(60_000 / delta.length) }, () => delta)
  return Buffer.from([...streamed.slice(0, deltaAt), ...deltas, ...streamed.slice(deltaAt + 1)].join(''))
}

function usageOf(answers: Answers, pieces: readonly Buffer[]) {
  const { tap, usage } = keepStreamEnds(answers)
  for (const piece of pieces) tap(piece)
  return usage()
}

function wholeUsage(answers: Answers, stream: Buffer) {
  const observer = createTailObserver('stream', answers)
  observer.feed(stream.toString())
  return observer.end().usage
}

// A first event that came in two pieces was torn apart, and an end that came with the beginning was passed over: what such answers
// had cost was in no count.
test.each(streams)(
  'the usage of a long %s stream is known however it is cut',
  (_name, api, deltaAt, answers) => {
    const stream = longStream(api, deltaAt)
    const whole = wholeUsage(answers, stream)
    expect(whole).toMatchObject({ promptTokens: 31, cachedTokens: 7 })
    const place = fc.oneof(
      fc.integer({ min: 0, max: 1_500 }),
      fc.integer({ min: stream.length - 1_500, max: stream.length }),
      fc.integer({ min: 0, max: stream.length }),
    )
    fc.assert(
      fc.property(fc.array(place, { maxLength: 30 }), (cuts) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), stream.length]
        const pieces = places.flatMap((at, index) => {
          const piece = stream.subarray(at, places[index + 1])
          return piece.length === 0 ? [] : [piece]
        })
        expect(usageOf(answers, pieces)).toEqual(whole)
      }),
      { numRuns: propertyRuns(200) },
    )
  },
)

test('a stream without usage, and one without a byte, state none', () => {
  const answers = chatCompletions.answers
  expect(usageOf(answers, [])).toBeNull()
  expect(usageOf(answers, [Buffer.from(chat.streamed[1] ?? ''), Buffer.from('data: [DONE]\n\n')])).toBeNull()
})
