import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFactsReader } from '../../src/conversation/facts.ts'
import { elementsIn } from '../../src/conversation/spans-in.ts'
import { delimitMessages, readMessages } from '../../src/conversation/messages.ts'
import { finish } from '../../src/conversation/source.ts'
import { digest, sourceOf } from '../support/source.ts'

function read(messages: readonly unknown[]) {
  const source = sourceOf(JSON.stringify(messages))
  const spans = elementsIn(source, { start: 0, end: source.length }) ?? []
  return readMessages(spans, source, 'scope', createFactsReader(digest, { entriesMax: 100 }))
}

test('every message comes with its place and its facts', () => {
  const messages = finish(read([{ role: 'user', content: 'a' }, { role: 'assistant' }]))
  expect(messages?.map(({ start, end, facts }) => [start, end, facts.role])).toEqual([
    [1, 30, 'user'],
    [31, 51, 'assistant'],
  ])
})

test('one unreadable message makes the conversation unreadable', () => {
  expect(finish(read([{ role: 'user' }, 7]))).toBeNull()
})

test('large conversations are read in steps', () => {
  const content = 'x'.repeat(200_000)
  expect(
    [...read(Array.from({ length: 10 }, () => ({ role: 'user', content })))].length,
  ).toBeGreaterThanOrEqual(10)
})

/** Elements of an array as a client may send them: mostly messages, of any size, with what may mislead a scan. */
const elements = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ role: fc.string(), content: fc.string({ unit: 'binary' }) }) },
    { weight: 4, arbitrary: fc.constantFrom({ a: '{"}\\"]' }, { a: [{ b: [] }] }, {}) },
    { weight: 1, arbitrary: fc.constantFrom(7, 'text', null, [1, 2]) },
  ),
)

test('the objects that begin an array are delimited as they are in one go, whatever is looked at at once', () => {
  fc.assert(
    fc.property(
      elements,
      fc.constantFrom(undefined, 1),
      fc.integer({ min: 1, max: 80 }),
      fc.constantFrom('', ' ,"tools":[{}]}', '}'),
      (values, indent, windowBytes, after) => {
        const array = JSON.stringify(values, null, indent)
        const source = sourceOf(`${array}${after}`)
        const all = elementsIn(source, { start: 0, end: sourceOf(array).length }) ?? []
        const other = values.findIndex(
          (value) => typeof value !== 'object' || value === null || Array.isArray(value),
        )
        const objects = other === -1 ? all : all.slice(0, other)
        expect(finish(delimitMessages(source, 0, windowBytes))).toEqual(objects)
      },
    ),
  )
})

test('an array that breaks off, or goes wrong, is delimited as far as it is whole', () => {
  for (const [text, count] of [
    ['[{"a":1},{"b":2', 1],
    ['[{"a":1} {"b":2}]', 1],
    ['[,{"a":1}]', 0],
    ['[{"a":1},,{"b":2}]', 1],
    ['[', 0],
    ['[{"a":1},', 1],
  ] as const)
    for (const windowBytes of [1, 4, 100])
      expect(finish(delimitMessages(sourceOf(text), 0, windowBytes))).toHaveLength(count)
})

test('a large array is delimited in steps', () => {
  const body = JSON.stringify(
    Array.from({ length: 100 }, () => ({ role: 'user', content: 'x'.repeat(20_000) })),
  )
  expect([...delimitMessages(sourceOf(body), 0)].length).toBeGreaterThanOrEqual(10)
})
