import { expect, test } from 'vitest'
import { createEventReader } from '../../src/dialects/event-reader.ts'

const readAll = (text: string, eventCharactersMax = 1000) => {
  const reader = createEventReader({ eventCharactersMax })
  return [...reader.feed(text), ...reader.end()]
}

test('data lines are joined, one space behind the colon is not theirs, other fields are left out', () => {
  expect(readAll('id: 1\nevent: x\ndata:a\ndata:  b\nretry: 5\ndata\n\n')).toEqual([
    { name: 'x', data: 'a\n b\n', error: '' },
  ])
})

test('an event without data is none, and its name does not leak into the next', () => {
  expect(readAll('event: ping\n\ndata: a\n\n')).toEqual([{ name: '', data: 'a', error: '' }])
})

test('a line feed that follows a carriage return in the next chunk ends no further line', () => {
  const reader = createEventReader({ eventCharactersMax: 100 })
  expect(reader.feed('data: a\r')).toEqual([])
  expect(reader.feed('\ndata: b\r')).toEqual([])
  expect(reader.feed('\n\r')).toEqual([{ name: '', data: 'a\nb', error: '' }])
  expect(reader.feed('\ndata: c')).toEqual([])
  expect(reader.end()).toEqual([{ name: '', data: 'c', error: '' }])
})

test('an overlong event is left out, whether it is one line or many, and the next one is read', () => {
  const long = 'x'.repeat(600)
  for (const overlong of [`data: ${long}${long}`, `data: ${long}\ndata: ${long}\ndata: y`]) {
    expect(readAll(`${overlong}\n\ndata: z\n\n`)).toEqual([{ name: '', data: 'z', error: '' }])
  }
})

test('many short events are never overlong together', () => {
  expect(readAll('data: 123456\n\n'.repeat(50), 20)).toHaveLength(50)
})
