import { describe, expect, test } from 'vitest'
import type { RawMessage } from '../harness/recordings.ts'
import { calling, clipped, countWords, result, said, sizeInWords, wordsNamed } from './hand-made.ts'
import { openStandings } from './standing.ts'
import { newestShare, recentShare, waterLevel, workableFigures } from './workable.ts'

const system = said('system', 'Be brief.')
const task = said('user', wordsNamed('task', 96))
const recap = said('user', '<conversation-recap>\nWhat was said before.\n</conversation-recap>')

describe('the newest message', () => {
  const text = wordsNamed('line', 996)
  const client = [system, task, calling('a'), result('a', text)]
  const clippedTo = (words: number) => [system, task, calling('a'), result('a', clipped(text, words / 2))]

  test('counts as there where it is clipped to what half of the room leaves it', () => {
    // The call takes 5, and half of 1,000 is 500.
    expect(newestShare(client, 1000, sizeInWords)).toBe(495)
    expect(figures(client, clippedTo(480), 1000)).toMatchObject({ newestAbsent: 0 })
  })

  test('is absent where more than a tenth of that is gone', () => {
    expect(figures(client, clippedTo(430), 1000)).toMatchObject({ newestAbsent: 1 })
  })

  test('has to be whole where its round takes no more than half of the room', () => {
    expect(newestShare(client, 2100, sizeInWords)).toBe(1000)
    expect(figures(client, clippedTo(800), 2100)).toMatchObject({ newestAbsent: 1 })
    expect(figures(client, client, 2100)).toMatchObject({ newestAbsent: 0 })
  })

  test('is absent as a bare mark, and with it gone', () => {
    const bare = [system, task, calling('a'), result('a', '[cut]')]
    for (const roomTokens of [1000, 20, 0, -50]) {
      expect(figures(client, bare, roomTokens)).toMatchObject({ newestAbsent: 1 })
      expect(figures(client, [system, task], roomTokens)).toMatchObject({ newestAbsent: 1 })
    }
  })

  test('may be small where system messages leave no room, but has to say something', () => {
    expect(figures(client, clippedTo(20), -50)).toMatchObject({ newestAbsent: 0 })
    const small = [system, task, calling('a'), result('a', wordsNamed('word', 20))]
    const marked = [system, task, calling('a'), result('a', '[cut]')]
    expect(figures(small, marked, -50)).toMatchObject({ newestAbsent: 0 })
    expect(figures(small, marked, 1000)).toMatchObject({ newestAbsent: 1 })
  })

  test('counts by what a preview shows of it', () => {
    const lines = text.replaceAll(/(line\d*[05]) /g, '$1\n').split('\n')
    const newest = result('a', lines.join('\n'))
    const shown = [...lines.slice(0, 60), '[preview: of 996 tokens]', ...lines.slice(-40)].join('\n')
    const view = [system, task, calling('a'), result('a', shown)]
    expect(figures([system, task, calling('a'), newest], view, 1000)).toMatchObject({ newestAbsent: 0 })
  })

  test('is not found in an older one that says the same', () => {
    const same = result('a', 'The same as ever.')
    const repeated = [system, task, calling('a'), same, calling('b'), result('b', 'The same as ever.')]
    expect(figures(repeated, [system, task, calling('a'), same], 1000)).toMatchObject({ newestAbsent: 1 })
  })
})

describe('a newest message of the user', () => {
  const text = wordsNamed('wish', 996)
  const client = [system, task, said('assistant', 'Done.'), said('user', text)]
  const keeping = (words: number) => [system, task, recap, said('user', clipped(text, words / 2))]

  test('has three quarters of the room', () => {
    expect(newestShare(client, 1000, sizeInWords)).toBe(750)
    expect(figures(client, keeping(700), 1000)).toMatchObject({ newestAbsent: 0 })
    expect(figures(client, keeping(500), 1000)).toMatchObject({ newestAbsent: 1 })
  })

  test('may be joined with what stands before it', () => {
    const joined = said('user', `${String(recap.message['content'])}\n\n${text}`)
    expect(figures(client, [system, joined], 2000)).toMatchObject({ newestAbsent: 0 })
  })
})

test('of parallel results small ones stay whole, and large ones are cut to one level', () => {
  expect(waterLevel([10, 300, 500], 410)).toBe(200)
  expect(waterLevel([10, 20], 410)).toBe(Infinity)
  const round = [calling('a', 'b', 'c'), result('a', wordsNamed('a', 6)), result('b', wordsNamed('b', 296))]
  const client = [system, task, ...round, result('c', wordsNamed('c', 496))]
  // The call takes 5, the small result 10; of 415, both large ones get 200.
  expect(newestShare(client, 830, sizeInWords)).toBe(200)
})

describe('the task', () => {
  const answered = [system, task, calling('a'), result('a', 'seen')]
  const withTask = (content: string) => [system, said('user', content), calling('a'), result('a', 'seen')]
  const text = String(task.message['content'])

  test('is there whole, or with a quarter of the room', () => {
    expect(figures(answered, answered, 200)).toMatchObject({ taskGone: 0 })
    expect(figures(answered, withTask(clipped(text, 20)), 200)).toMatchObject({ taskGone: 0 })
    expect(figures(answered, withTask(clipped(text, 8)), 200)).toMatchObject({ taskGone: 1 })
  })

  test('is gone as a bare mark, or where a recap only speaks of it', () => {
    expect(figures(answered, withTask('[cut]'), 200)).toMatchObject({ taskGone: 1 })
    const spokenOf = [system, recap, calling('a'), result('a', 'seen')]
    expect(figures(answered, spokenOf, 200)).toMatchObject({ taskGone: 1 })
  })
})

test('of the newest ten assistant messages those count that are still messages', () => {
  const rounds = Array.from({ length: 12 }, (_, id) => [calling(`${id}`), result(`${id}`, 'seen')])
  const client = [system, task, ...rounds.flat()]
  const view = [system, task, recap, ...rounds.slice(-4).flat()]
  expect(figures(client, view, 1000)).toMatchObject({ actions: 10, actionsHeld: 4 })
  const done = figures([system, task, said('assistant', 'Done.')], [system, task], 1000)
  expect(done).toMatchObject({ actions: 1, actionsHeld: 0 })
})

test('of the newest three results those count that are whole, or with half of their text, or with 1,000 tokens', () => {
  const texts = [wordsNamed('a', 9000), wordsNamed('b', 100), wordsNamed('c', 100)]
  const client = [task, ...roundsOf(['older', ...texts])]
  const seen = (...contents: readonly string[]) => figures(client, [task, ...roundsOf(contents)], 9999)
  const cutTo = (...words: readonly number[]) => texts.map((text, index) => clipped(text, words[index] ?? 0))
  expect(seen('older', ...cutTo(500, 25, 50))).toMatchObject({ observations: 3, observationsHeld: 3 })
  expect(seen('[cleared]', ...cutTo(499, 24, 50))).toMatchObject({ observations: 3, observationsHeld: 1 })
})

test('recent is the unbroken run of newest messages, byte for byte', () => {
  const rounds = ['a', 'b', 'c'].map((id) => [calling(id), result(id, wordsNamed(id, 41))])
  const client = [system, task, ...rounds.flat()]
  // A call takes 5 and a result 45.
  expect(recentShare(input(client, [system, task, recap, ...rounds.slice(1).flat()], 400))).toBe(0.25)
  const edited = [system, task, ...rounds.slice(0, 2).flat(), calling('c'), result('c', '[cut]')]
  expect(recentShare(input(client, edited, 400))).toBe(0)
  const holed = client.filter((_, index) => index !== 5)
  expect(recentShare(input(client, holed, 400))).toBe(0.125)
})

// --- internal ---

function roundsOf(contents: readonly string[]): readonly RawMessage[] {
  return contents.flatMap((content, id) => [calling(`${id}`), result(`${id}`, content)])
}

function input(client: readonly RawMessage[], received: readonly RawMessage[], roomTokens: number) {
  const standings = openStandings({ count: countWords, sizeOf: sizeInWords })
  return { client, received, standings, sizeOf: sizeInWords, roomTokens }
}

function figures(client: readonly RawMessage[], received: readonly RawMessage[], roomTokens: number) {
  return workableFigures(input(client, received, roomTokens))
}
