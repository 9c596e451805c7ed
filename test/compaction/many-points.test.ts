import { expect, test } from 'vitest'
import { compactedUnder } from '../support/compacted.ts'
import { policyOf, subjectOf } from '../support/subject.ts'

// Every compaction that was planned on the way summed up the system messages of the whole conversation, and looked through all
// of it for tool results. An agent's log of 20,000 calls that nobody answered, in one request of a megabyte, kept all
// other clients waiting for five seconds, and one of twice the size for twenty.
test('a conversation of very many request points costs no more than its length', () => {
  const call = { id: 'a', type: 'function', function: { name: 'run', arguments: '{}' } }
  const calls = Array.from({ length: 20_000 }, () => ({ role: 'assistant', tool_calls: [call] }))
  const subject = subjectOf(calls)
  const { view } = compactedUnder(subject, { policy: policyOf(), budgetTokens: 1_744 })
  expect(view.passes).toEqual(['fold'])
})
