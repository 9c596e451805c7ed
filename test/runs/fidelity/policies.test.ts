import { describe, expect, test } from 'vitest'
import { ruleBreaks } from '../../support/strict-upstream/message-rules.ts'
import { rawMessage, type RawMessage } from '../replay/recordings.ts'
import { clearing, everything, headAndSuffix, middleOut, newestSuffix, type Policy } from './policies.ts'
import { policies } from './rows.ts'

const messages: readonly RawMessage[] = [
  said('system', 'Be brief.'),
  said('user', 'Mend it.'),
  ...Array.from({ length: 12 }, (_, round) => roundOf(round, 1 + (round % 3))).flat(),
]

describe.each(Object.entries(policies))('%s', (_, policy) => {
  test('never splits a tool round', () => {
    for (let budgetTokens = 0; budgetTokens < messages.length + 2; budgetTokens += 1) {
      const sent = sentBy(policy, budgetTokens).map(({ message }) => message)
      expect(ruleBreaks(sent, 'lenient'), `at ${budgetTokens}`).toEqual([])
    }
  })

  test('sends all of what fits, and always the newest message', () => {
    if (policy !== clearing) expect(sentBy(policy, messages.length)).toEqual(messages)
    expect(sentBy(policy, 1).at(-1)?.text).toBe(messages.at(-1)?.text)
  })

  test('stays within its budget where the newest round allows it', () => {
    if (policy === everything) return
    for (let budgetTokens = 8; budgetTokens < messages.length; budgetTokens += 1)
      expect(sentBy(policy, budgetTokens).length).toBeLessThanOrEqual(budgetTokens)
  })
})

test('the newest suffix has nothing in front of it, unless it is asked to keep the head', () => {
  expect(sentBy(newestSuffix, 10)).toEqual(messages.slice(-9))
  expect(sentBy(headAndSuffix, 10)).toEqual([...messages.slice(0, 2), ...messages.slice(-7)])
})

test('the middle goes out, the head stays with the tail', () => {
  expect(sentBy(middleOut, 12)).toEqual([...messages.slice(0, 4), ...messages.slice(-7)])
})

test('old results are cleared from six tenths on', () => {
  const count = messages.length
  expect(sentBy(clearing, Math.ceil(count / 0.6))).toEqual(messages)
  const sent = sentBy(clearing, count)
  const cleared = sent.filter(({ text }) => text.includes('cleared')).length
  const results = messages.filter(({ message }) => message['role'] === 'tool').length
  expect(cleared).toBe(results - 6)
  expect(sent).toHaveLength(count)
})

// --- internal ---

/** Every message takes one token. */
function sentBy(policy: Policy, budgetTokens: number): readonly RawMessage[] {
  return policy({ messages, budgetTokens, sizeOf: () => 1 })
}

function said(role: string, content: string): RawMessage {
  return rawMessage(JSON.stringify({ role, content }))
}

function roundOf(round: number, callCount: number): readonly RawMessage[] {
  const ids = Array.from({ length: callCount }, (_, call) => `${round}-${call}`)
  const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } }))
  const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: `Seen by ${id}.` }))
  return [{ role: 'assistant', content: null, tool_calls: calls }, ...results].map((message) =>
    rawMessage(JSON.stringify(message)),
  )
}
