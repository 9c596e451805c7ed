import { describe, expect, test } from 'vitest'
import type { RawMessage } from '../harness/recordings.ts'
import { calling, clipped, countWords, result, said, sizeInWords, wordsNamed } from './hand-made.ts'
import { openStandings } from './standing.ts'
import { newestShare, recentShare, waterLevel, workableFigures } from './workable.ts'

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

  test('counts by what a preview shows of it, and is not found in an older one that says the same', () => {
    const lines = text.replaceAll(/(line\d*[05]) /g, '$1\n').split('\n')
    const shown = [...lines.slice(0, 60), '[preview: of 996 tokens]', ...lines.slice(-40)].join('\n')
    const whole = [system, task, calling('a'), result('a', lines.join('\n'))]
    expect(isAbsent(whole, [system, task, calling('a'), result('a', shown)], 1000)).toBe(false)
    const once = [system, task, calling('a'), result('a', 'The same as ever.')]
    expect(isAbsent([...once, calling('b'), result('b', 'The same as ever.')], once, 1000)).toBe(true)
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

test('of parallel results small ones stay whole, and large ones are cut to one level', () => {
  expect(waterLevel([10, 300, 500], 410)).toBe(200)
  expect(waterLevel([10, 20], 410)).toBe(Infinity)
  const [a, b, c] = [result('a', wordsNamed('a', 6)), result('b', wordsNamed('b', 296)), wordsNamed('c', 496)]
  // The call takes 5, the small result 10; of 415, both large ones get 200.
  expect(newestShare([system, task, calling('a', 'b', 'c'), a, b, result('c', c)], 830, sizeInWords)).toBe(
    200,
  )
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

test('of the newest ten assistant messages those count that are still messages', () => {
  const rounds = Array.from({ length: 12 }, (_, id) => [calling(`${id}`), result(`${id}`, 'seen')])
  const view = [system, task, recap, ...rounds.slice(-4).flat()]
  const counted = figures([system, task, ...rounds.flat()], view, 1000)
  expect(counted).toMatchObject({ actions: 10, actionsHeld: 4 })
  const done = figures([system, task, said('assistant', 'Done.')], [system, task], 1000)
  expect(done).toMatchObject({ actions: 1, actionsHeld: 0 })
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

test('recent is the unbroken run of newest messages, byte for byte', () => {
  const rounds = ['a', 'b', 'c'].map((id) => [calling(id), result(id, wordsNamed(id, 41))])
  const client = [system, task, ...rounds.flat()]
  const shareOf = (view: readonly RawMessage[]) => recentShare(input(client, view, 400))
  // A call takes 5 and a result 45.
  expect(shareOf([system, task, recap, ...rounds.slice(1).flat()])).toBe(0.25)
  expect(shareOf([...client.slice(0, -1), result('c', '[cut]')])).toBe(0)
  expect(shareOf(client.filter((_, index) => index !== 5))).toBe(0.125)
})

function input(client: readonly RawMessage[], received: readonly RawMessage[], roomTokens: number) {
  const standings = openStandings({ count: countWords, sizeOf: sizeInWords })
  return { client, received, standings, sizeOf: sizeInWords, roomTokens }
}

const figures = (client: readonly RawMessage[], received: readonly RawMessage[], roomTokens: number) =>
  workableFigures(input(client, received, roomTokens))
