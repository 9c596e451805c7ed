import { describe, expect, test } from 'vitest'
import type { RawMessage } from '../harness/recordings.ts'
import { calling, clipped, countWords, result, said, sizeInWords, wordsNamed } from './hand-made.ts'
import { openStandings } from './standing.ts'
import { newestShare, workableFigures } from './workable.ts'

const system = said('system', 'Be brief.')
const task = said('user', wordsNamed('task', 96))
const recap = said('user', '<conversation-recap>\nWhat was said before.\n</conversation-recap>')
const bare = [system, task, calling('a'), result('a', '[cut]')]

const roundsOf = (contents: readonly string[]) =>
  contents.flatMap((content, id) => [calling(`${id}`), result(`${id}`, content)])
const isAbsent = (...asked: Parameters<typeof figures>) => figures(...asked).newestAbsent === 1
const isTaskGone = (...asked: Parameters<typeof figures>) => figures(...asked).taskGone === 1

describe('the newest message', () => {
  const text = wordsNamed('line', 996)
  const client = [system, task, calling('a'), result('a', text)]
  const clippedTo = (words: number) => [system, task, calling('a'), result('a', clipped(text, words / 2))]

  test('counts as there where it has what half of the room leaves it, but for a tenth', () => {
    // The call takes 5, and half of 1,000 is 500.
    expect(newestShare(client, 1000, sizeInWords)).toBe(495)
    expect(isAbsent(client, clippedTo(480), 1000)).toBe(false)
    expect(isAbsent(client, clippedTo(430), 1000)).toBe(true)
  })

  test('has to be whole where its round takes no more than half of the room', () => {
    expect(newestShare(client, 2100, sizeInWords)).toBe(1000)
    expect(isAbsent(client, clippedTo(800), 2100)).toBe(true)
    expect(isAbsent(client, client, 2100)).toBe(false)
  })

  test.each([1000, 20, 0, -50])(
    'is absent as a bare mark, and with it gone, in a room of %i',
    (roomTokens) => {
      expect(isAbsent(client, bare, roomTokens)).toBe(true)
      expect(isAbsent(client, [system, task], roomTokens)).toBe(true)
    },
  )

  test('may be small where system messages leave no room, but has to say something', () => {
    expect(isAbsent(client, clippedTo(20), -50)).toBe(false)
    const small = [system, task, calling('a'), result('a', wordsNamed('word', 20))]
    expect(isAbsent(small, bare, -50)).toBe(false)
    expect(isAbsent(small, bare, 1000)).toBe(true)
  })

  test('of the user has three quarters of the room, and may be joined with what stands before it', () => {
    const wish = wordsNamed('wish', 996)
    const wishing = [system, task, said('assistant', 'Done.'), said('user', wish)]
    const keeping = (words: number) => [system, task, recap, said('user', clipped(wish, words / 2))]
    expect(newestShare(wishing, 1000, sizeInWords)).toBe(750)
    expect([700, 500].map((words) => isAbsent(wishing, keeping(words), 1000))).toEqual([false, true])
    const joined = said('user', `${String(recap.message['content'])}\n\n${wish}`)
    expect(isAbsent(wishing, [system, joined], 2000)).toBe(false)
  })
})

test('the task is there whole, or with a quarter of the room; gone as a mark, or where a recap only speaks of it', () => {
  const round = [calling('a'), result('a', 'seen')]
  const answered = [system, task, ...round]
  const text = String(task.message['content'])
  const isGone = (...views: readonly RawMessage[]) => isTaskGone(answered, [system, ...views, ...round], 200)
  expect([isGone(task), isGone(said('user', clipped(text, 20)))]).toEqual([false, false])
  expect([isGone(said('user', clipped(text, 8))), isGone(said('user', '[cut]')), isGone(recap)]).toEqual([
    true,
    true,
    true,
  ])
})

test.each([
  ['older', [500, 25, 50], 3],
  ['[cleared]', [499, 24, 50], 1],
])(
  'of the newest three results those count that are whole, half or 1,000 tokens: %s %j',
  (older, words, held) => {
    const texts = [wordsNamed('a', 9000), wordsNamed('b', 100), wordsNamed('c', 100)]
    const cut = texts.map((text, index) => clipped(text, words[index] ?? 0))
    const seen = figures([task, ...roundsOf(['older', ...texts])], [task, ...roundsOf([older, ...cut])], 9999)
    expect(seen).toMatchObject({ observations: 3, observationsHeld: held })
  },
)

function input(client: readonly RawMessage[], received: readonly RawMessage[], roomTokens: number) {
  const standings = openStandings({ count: countWords, sizeOf: sizeInWords })
  return { client, received, standings, sizeOf: sizeInWords, roomTokens }
}

const figures = (client: readonly RawMessage[], received: readonly RawMessage[], roomTokens: number) =>
  workableFigures(input(client, received, roomTokens))
