import { describe, expect, test } from 'vitest'
import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { messagesOf, type RawMessage } from '../harness/recordings.ts'
import { calling, result, said } from './hand-made.ts'
import { clearing, headAndSuffix, middleOut, newestSuffix, type Policy } from './policies.ts'
import { policies } from './rows.ts'

const messages: readonly RawMessage[] = [
  said('system', 'Be brief.'),
  said('user', 'Mend it.'),
  ...Array.from({ length: 12 }, (_, round) => {
    const ids = Array.from({ length: 1 + (round % 3) }, (_call, call) => `${round}-${call}`)
    return [calling(...ids), ...ids.map((id) => result(id, `Seen by ${id}.`))]
  }).flat(),
]

/** Every message takes one token. */
const sentBy = (policy: Policy, budgetTokens: number): readonly RawMessage[] =>
  policy({ messages, budgetTokens, sizeOf: () => 1 })

describe.each([...policies])('%s', (name, openPolicy) => {
  test('never splits a tool round, and stays within its budget where the newest round allows it', () => {
    for (let budgetTokens = 0; budgetTokens < messages.length + 2; budgetTokens += 1) {
      const sent = sentBy(openPolicy(), budgetTokens)
      expect(ruleBreaks(messagesOf(sent), 'lenient'), `at ${budgetTokens}`).toEqual([])
      if (name !== 'everything' && budgetTokens >= 8) expect(sent.length).toBeLessThanOrEqual(budgetTokens)
    }
  })

  test('sends all of what fits, and always the newest message', () => {
    if (name !== 'clearing') expect(sentBy(openPolicy(), messages.length)).toEqual(messages)
    expect(sentBy(openPolicy(), 1).at(-1)?.text).toBe(messages.at(-1)?.text)
  })
})

test('the newest suffix has nothing in front, unless the head is kept; or the middle goes out', () => {
  expect(sentBy(newestSuffix, 10)).toEqual(messages.slice(-9))
  expect(sentBy(headAndSuffix, 10)).toEqual([...messages.slice(0, 2), ...messages.slice(-7)])
  expect(sentBy(middleOut, 12)).toEqual([...messages.slice(0, 4), ...messages.slice(-7)])
})

test('old results are cleared from six tenths on', () => {
  expect(sentBy(clearing, Math.ceil(messages.length / 0.6))).toEqual(messages)
  const cleared = sentBy(clearing, messages.length).filter(({ text }) => text.includes('cleared'))
  expect(cleared).toHaveLength(24 - 6)
})
