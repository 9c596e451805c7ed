import { expect, test } from 'vitest'
import { madeRecording } from '../harness/recordings.ts'
import { calling, clipped, countWords, result, said, sizeInWords, wordsNamed } from './hand-made.ts'
import { openStandings } from './standing.ts'
import { lowest, openViewSample } from './views.ts'
import type { SeenView } from './walk-conversation.ts'

const long = wordsNamed('line', 500)
const messages = [
  said('user', 'Mend it.'),
  calling('a'),
  result('a', 'gone'),
  calling('b'),
  result('b', long),
]
const recording = madeRecording('own', 'one', messages)
const row = { kind: 'foldgate' as const, name: 'truncate', profile: {} }
const source = { recording, row, room: { windowTokens: 8000, reserveTokens: 4000 } }

function viewOf(sent: readonly ((typeof messages)[number] | undefined)[]): SeenView {
  const received = sent.filter((message) => message !== undefined)
  const standings = openStandings({ count: countWords, sizeOf: sizeInWords }).of(messages, received)
  return { point: 5, received, standings, promptTokens: 5000, sizeOf: sizeInWords }
}

test('a view is printed message by message, with whose each is and how large', () => {
  const recap = said('user', '<conversation-recap>')
  const sample = openViewSample({ count: 1, seed: 1 }, source)
  sample.add(viewOf([messages[0], recap, messages[3], result('b', clipped(long, 150))]))
  expect(sample.views()[0]?.text.split('\n')).toEqual([
    'truncate: own, conversation one, request of 5 messages: 4 received, 5,000 tokens of 4,000',
    '[0] user, 6 tokens, message 0',
    '    Mend it.',
    "[1] user, 5 tokens, not one of the client's",
    '    <conversation-recap>',
    expect.stringMatching(/^\[2\] assistant, \d+ tokens, message 3$/),
    '    calls look {}',
    '[3] tool, 305 tokens, message 4, changed, of 504, answers b',
    `    ${clipped(long, 150)}`,
  ])
})

test('the same seed draws the same views, in however many parts they are drawn', () => {
  const views = Array.from({ length: 20 }, (_, point) => ({ ...viewOf([messages[0]]), point }))
  const drawnFrom = (seed: number, parts: readonly (readonly SeenView[])[]) => {
    const drawn = parts.flatMap((part) => {
      const sample = openViewSample({ count: 3, seed }, source)
      for (const view of part) sample.add(view)
      return sample.views()
    })
    return lowest(drawn, 3).map(({ lot }) => lot)
  }
  expect(drawnFrom(1, [views])).toEqual(drawnFrom(1, [views.slice(7), views.slice(0, 7)]))
  expect(drawnFrom(1, [views])).toHaveLength(3)
  expect(drawnFrom(1, [views])).not.toEqual(drawnFrom(2, [views]))
})
