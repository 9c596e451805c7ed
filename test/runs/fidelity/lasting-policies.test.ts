import { expect, test } from 'vitest'
import { isBeginning } from '../../support/is-beginning.ts'
import { rawMessage, requestPoints, type RawMessage } from '../harness/recordings.ts'
import { calling, result, said, sizeInWords, wordsNamed } from './hand-made.ts'
import { openDropHalf, openQuickModel } from './lasting-policies.ts'
import type { Policy } from './policies.ts'
import { policies } from './rows.ts'

const head = [said('system', 'Be brief.'), said('user', 'Mend it.')]
const reading = (id: string, path: string, words: number): readonly RawMessage[] => [
  rawMessage(calling(id).text.replace('"{}"', JSON.stringify(JSON.stringify({ path })))),
  result(id, wordsNamed(`of${id}w`, words)),
]
const roundsOf = (count: number, words: number) =>
  Array.from({ length: count }, (_, round) => reading(`${round}`, `src/file_${round}.ts`, words))
const sizeOfAll = (messages: readonly RawMessage[]) =>
  messages.reduce((sum, each) => sum + sizeInWords(each), 0)
const sentBy = (policy: Policy, messages: readonly RawMessage[], budgetTokens: number) =>
  policy({ messages, budgetTokens, sizeOf: sizeInWords })
const isCleared = ({ text }: RawMessage) => text.includes('content cleared')

test.each(['drop half', 'quick 0.7', 'quick 0.8'])(
  '%s: the prompt only grows until the budget is full, and is never beyond it',
  (name) => {
    const messages = [...head, ...roundsOf(60, 150).flat()]
    const policy = policies.get(name)?.()
    if (policy === undefined) throw new Error('there is no such policy')
    let [before, compactions]: [readonly string[], number] = [[], 0]
    const points = requestPoints(messages)
    for (const point of points) {
      const view = sentBy(policy, messages.slice(0, point), 2000)
      expect(sizeOfAll(view)).toBeLessThanOrEqual(2000)
      const texts = view.map(({ text }) => text)
      if (!isBeginning(before, texts)) compactions += 1
      before = texts
    }
    expect(compactions).toBeGreaterThan(2)
    expect(compactions).toBeLessThan(points.length / 2)
  },
)

test('dropping half leaves the head, and half of what it leaves', () => {
  const rounds = roundsOf(20, 91)
  const view = sentBy(openDropHalf(), [...head, ...rounds.flat()], 1000)
  // A round takes 102 tokens, the head 12.
  expect(view).toEqual([...head, ...rounds.slice(-4).flat()])
})

test('the quick model clears large and old results before small and new ones, and no small ones or newest three', () => {
  const rounds = [
    ...[120, 300, 50, 300].map((words, index) => reading(`a${index}`, `src/a${index}.ts`, words)),
    ...roundsOf(3, 150),
  ]
  const messages = [...head, ...rounds.flat()]
  const clearedAt = (budgetTokens: number) =>
    sentBy(openQuickModel(0.7), messages, budgetTokens).flatMap((message) =>
      isCleared(message) ? [String(message.message['tool_call_id'])] : [],
    )
  expect(sizeOfAll(messages)).toBeGreaterThan(1270)
  expect(clearedAt(1270)).toEqual(['a1', 'a3'])
  expect(clearedAt(1000)).toEqual(['a0', 'a1', 'a3'])
})

test('a result whose path a later call names goes first, even one of the newest three', () => {
  const rounds = [...roundsOf(4, 300), reading('x', 'src/same.ts', 150), reading('y', 'src/same.ts', 150)]
  const view = sentBy(openQuickModel(0.95), [...head, ...rounds.flat()], 1550)
  expect(view.filter(isCleared).map(({ message }) => message['tool_call_id'])).toEqual(['x'])
})

test('where clearing is not enough the oldest rounds go, each for a line, of which the newest stay', () => {
  const told = wordsNamed('reason', 60)
  const messages = [
    ...head,
    ...roundsOf(90, 20).flatMap(([call, seen]) => [
      rawMessage(JSON.stringify({ ...call?.message, content: told })),
      ...(seen === undefined ? [] : [seen]),
    ]),
  ]
  const view = sentBy(openQuickModel(0.7), messages, 2500)
  const recap = String(view[2]?.message['content'])
  expect(view.slice(0, 2)).toEqual(head)
  const lines = recap.split('\n').slice(1)
  const firstKept = Number(view[4]?.message['tool_call_id'])
  expect(lines.at(-1)).toBe(`${told.slice(0, 220)} → look {"path":"src/file_${firstKept - 1}.ts"}`)
  expect(countOf(recap)).toBeLessThanOrEqual(800)
  expect(lines.length).toBeLessThan(firstKept)
})

const countOf = (text: string): number => sizeInWords(said('user', text))
