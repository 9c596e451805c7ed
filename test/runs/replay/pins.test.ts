import { expect, test } from 'vitest'
import { calling, clipped, countWords, result, said, sizeInWords, wordsNamed } from '../fidelity/hand-made.ts'
import { openPins } from './pins.ts'
import type { RawMessage } from './recordings.ts'

const system = said('system', 'Be brief.')
const task = wordsNamed('task', 396)
const wish = wordsNamed('wish', 396)
const text = wordsNamed('line', 396)
const round = [calling('a', 'b'), result('a', text), result('b', wordsNamed('other', 396))]
const client = [system, said('user', task), said('assistant', 'Noted.'), said('user', wish), ...round]

/** What is missing where the words that are left of either end are so many, in a room of 1,000. */
function missing(words: { task?: number; wish?: number; one?: number; other?: number }) {
  return missingOf([
    system,
    said('user', short(task, words.task)),
    said('user', short(wish, words.wish)),
    calling('a', 'b'),
    result('a', short(text, words.one)),
    result('b', short(wordsNamed('other', 396), words.other)),
  ])
}

function missingOf(received: readonly RawMessage[], roomTokens = 1000) {
  const pins = openPins(
    { messages: client, systemCount: 1, task: 1 },
    { count: countWords, sizeOf: sizeInWords },
  )
  return pins({ point: client.length, rawMessages: received.map((each) => each.text), roomTokens }).map(
    ({ what, detail }) => `${what}: ${detail}`,
  )
}

test('task and latest user message may be cut to a quarter of the room, the newest round to half of it', () => {
  // A quarter is 250 tokens; of the 500 for the round the calls take few, and each result half of the rest.
  expect(missing({ task: 125, wish: 125, one: 125, other: 125 })).toEqual([])
})

test('whatever has less than that is told, with what is there and what is due', () => {
  expect(missing({ task: 100, wish: 125, one: 125, other: 125 })).toEqual([
    'task: the task, message 1: has 204 of 400 tokens (200 of its text), 250 tokens are due',
  ])
  expect(missing({ wish: 20 }).map((each) => each.slice(0, 43))).toEqual([
    'pinned: the latest user message, message 3:',
  ])
  expect(missing({ one: 20 })[0]).toMatch(/^pinned: of the newest round, message 5: has 44 of 400 tokens/)
  expect(missing({ other: 20 })[0]).toMatch(/^newest: the newest, message 6: has 44 of 400 tokens/)
})

test('what is gone is told; a smaller room asks for less, and a bare mark is too little for any', () => {
  expect(missingOf([system, said('user', task), ...round])).toEqual([
    'pinned: the latest user message, message 3: is not there, 250 tokens are due',
  ])
  const marked = [system, said('user', clipped(task, 20)), said('user', '[cut]'), ...round]
  expect(missingOf(marked, 100)).toEqual([
    'pinned: the latest user message, message 3: is not there, 25 tokens are due',
  ])
})

// --- internal ---

/** With so many words left of either end. */
function short(content: string, words = 198): string {
  return words >= 198 ? content : clipped(content, words)
}
