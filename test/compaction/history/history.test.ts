import { expect, test } from 'vitest'
import { callOf } from '../../../src/compaction/history/history.ts'
import { historyOf } from '../../support/subject.ts'

// Ollama's SDKs send results without ids, and an agent that runs its calls at once sends them as they come.
test('of results without ids, those that name their tools answer the calls of that name, the others in their order', () => {
  const calls = ['look', 'list'].map((name) => ({ function: { name, arguments: '{}' } }))
  const answered = (...names: readonly (string | null)[]) => {
    const results = names.map((name) => ({ role: 'tool', content: 'ok', ...(name !== null && { name }) }))
    const subject = historyOf([
      { role: 'user', content: 'Go.' },
      { role: 'assistant', tool_calls: calls },
      ...results,
    ])
    return names.map((_, at) => callOf(subject, at + 2)?.position)
  }
  expect(answered('list', 'look')).toEqual([1, 0])
  expect(answered('look', 'list')).toEqual([0, 1])
  expect(answered(null, null)).toEqual([0, 1])
  expect(answered('renamed', 'list')).toEqual([0, 1])
})
