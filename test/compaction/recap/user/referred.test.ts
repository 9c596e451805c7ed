import { describe, expect, test } from 'vitest'
import placeRows from '../../../../src/compaction/recap/user/places.json' with { type: 'json' }
import { referredIn } from '../../../../src/compaction/recap/user/referred.ts'
import { cellsOf } from '../../../../src/compaction/recap/user/words.ts'

const items = ['1. Rewrite the store.', '2. Add a lock.', '3. Drop the feature.', '4. Wait.']
const list = `I see these ways:\n${items.join('\n')}\n`

// Story: number words anywhere in a message counted as a place in the list above it, and the lowest place won. Who
// wrote "The second one, not the first." stood in the recap as having chosen the first.
describe('nobody is said to have chosen what they did not choose', () => {
  test.each([
    'Use two spaces for indentation, never tabs.',
    'Always run the tests first, then commit.',
    'Wait a second. Never push to main.',
    'First, run the tests.',
    'Do it first.',
    'Run this one first.',
    'No, hai sbagliato: usa sempre i tab.',
    'Never deploy on the last day of a month.',
    'Use C.',
    'Keep each function under four lines.',
    'In the last release we broke login.',
    'The number one rule is safety.',
    'The option a user picks is saved.',
    'Use port number 3.',
    'The last option in the menu must be Quit.',
    'Every last one of them.',
    'Erstens: keine Tabs.',
    '第二，永远不要用制表符。',
    '二番目の引数は文字列です。',
  ])('where a number is no choice: %s', (said) => {
    expect(referredIn(said, list)).toBeNull()
  })

  test.each([
    'Not the first one.',
    'Neither the first nor the second.',
    'Anything but the second one.',
    'Not the first one, or the second.',
    'Skip the first one.',
    'The first one is too slow.',
    'not 2',
    'Alles außer der zweiten Variante.',
    'Ni la primera ni la segunda.',
    '不要第二个方案',
    '두 번째 것 말고',
  ])('where it is denied: %s', (said) => {
    expect(referredIn(said, list)).toBeNull()
  })

  test('where a number alone answers how many', () => {
    expect(referredIn('Two.', `${list}\nHow many of them shall I do?`)).toBe('How many of them shall I do?')
  })

  test('where the list is marked otherwise than the answer', () => {
    expect(referredIn('C', list)).toBeNull()
    expect(referredIn('3', list.replaceAll(/\d\./g, '-'))).toBeNull()
  })
})

describe('what somebody chose is said', () => {
  test.each([
    [1, 'The second one, not the first.'],
    [0, 'The first, not the second.'],
    [1, 'No, the second one.'],
    [1, 'The second, please.'],
    [2, 'number three sounds right to me'],
    [1, 'Option B, please.'],
    [1, 'I’d go for number two.'],
    [3, 'yes, that last one'],
    [1, '2'],
    [1, 'hai'],
    [1, '二番目でお願いします'],
    [1, '두 번째로 해 주세요'],
    [1, '就用第二个方案吧。'],
  ])('item %i: %s', (place, said) => {
    expect(referredIn(said, list)).toBe(items[place])
  })

  test.each(Object.entries(placeRows))('in %s', (_, row) => {
    expect(referredIn(cellsOf(row)[0] ?? '', list)).toBe(items[1])
  })

  test('by a letter alone where the items have letters', () => {
    expect(referredIn('B', 'Two ways:\nA) a queue\nB) a webhook')).toBe('B) a webhook')
  })
})
