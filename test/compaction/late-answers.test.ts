import { expect, test } from 'vitest'
import { FOLD_VERSION, type Compaction } from '../../src/compaction/compaction.ts'
import { compactedUnder } from '../support/compacted.ts'
import { policyOf, subjectOf, viewTexts } from '../support/subject.ts'

const calls = ['read', 'list', 'search'].map((name) => ({
  id: name,
  type: 'function',
  function: { name, arguments: '{}' },
}))

const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

// A user's words parted a result without a call from a round. When a further result of the round came behind it, all
// of them became one unit, and the cleared result, in the middle of what had been sent, was said to be another tool's.
test('a result that comes late changes nothing of what was sent before it', () => {
  const long = 'word '.repeat(1500)
  const before = [
    { role: 'user', content: 'The task.' },
    { role: 'assistant', content: null, tool_calls: calls },
    result('read', long),
    { role: 'user', content: 'Wait.' },
    result('of no call', long),
    { role: 'user', content: 'Go on.' },
  ]
  const policy = policyOf({ clear: { except_tools: ['search'] } })
  const record: Compaction = {
    version: FOLD_VERSION,
    reason: 'forced',
    point: before.length,
    task: 0,
    latestUser: before.length - 1,
    reach: { render: 0, preview: 0, clear: before.length - 1 },
    fold: null,
    clips: [],
    thoughts: [],
  }
  const first = subjectOf(before)
  const sent = compactedUnder(first, { policy, budgetTokens: 8000, newest: record })
  const texts = viewTexts(first, sent.view)
  expect(texts[4]).toContain('[cleared: tool result')

  const second = subjectOf([...before, { role: 'user', content: 'Now.' }, result('list', 'late')])
  const then = compactedUnder(second, { policy, budgetTokens: 8000, newest: sent.compaction })
  expect(then.compaction).toBe(sent.compaction)
  expect(viewTexts(second, then.view).slice(0, texts.length)).toEqual(texts)
})
