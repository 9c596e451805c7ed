import { expect, test } from 'vitest'
import { isBeginning } from '../../support/is-beginning.ts'
import { rawMessage, requestPoints, type RawMessage } from '../harness/recordings.ts'
import { calling, result, said, sizeInWords, wordsNamed } from './hand-made.ts'
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
