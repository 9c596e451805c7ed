import { expect, test } from 'vitest'
import { chatCompletions } from '../../src/formats/chat/chat.ts'
import { responses } from '../../src/formats/responses/responses.ts'

const rules = { toolName: 'recall', continues: true }

const chunk = (delta: object, reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`

const piece = (text: string): string =>
  chunk({ tool_calls: [{ index: 0, function: { name: 'recall', arguments: text } }] })

const named = (name: string, id: number): object => ({
  id: `call_${id}`,
  type: 'function',
  function: { name, arguments: '{}' },
})

// An item of twenty thousand parts held the loop for more than a minute: each part was looked for among all.
test('an event that says more than any model says costs what its bytes cost', () => {
  const join = responses.replies.join(rules)
  const take = (type: string, more: object) =>
    join.take({ text: `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n` })
  const call = { type: 'function_call', id: 'f', call_id: 'k', name: 'recall', arguments: '{}' }
  take('response.output_item.done', { output_index: 0, item: call })
  const content = Array.from({ length: 60_000 }, () => ({ type: 'output_text', text: 'x', annotations: [] }))
  const item = { type: 'message', id: 'm', role: 'assistant', content }
  expect(take('response.output_item.done', { output_index: 1, item }).length).toBeGreaterThan(0)
})

// Every call of a plain answer was written as an event, with the whole answer in it, for a client that gets none.
test('a plain answer of many calls costs what its bytes cost', () => {
  const calls = Array.from({ length: 20_000 }, (_, id) => named('bash', id))
  const message = { role: 'assistant', content: null, tool_calls: [named('recall', 20_000), ...calls] }
  const body = { id: 'c', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  expect(chatCompletions.replies.join(rules).takePlain(body)?.calls).toHaveLength(20_001)
})

// A server that repeats the name with each piece of the arguments had one call made into two broken ones.
test('a call whose name is said again with each piece is one', () => {
  const join = chatCompletions.replies.join(rules)
  for (const text of [piece('{"query":'), piece('"x"}'), chunk({}, 'tool_calls')]) join.take({ text })
  expect(join.ended().reply?.calls.map(({ name, argumentsText }) => [name, argumentsText])).toEqual([
    ['recall', '{"query":"x"}'],
  ])
})

// Azure begins each answer with what its filters found: of a further answer the client got it in the middle of the reply.
test('what says nothing of a reply goes on from the first answer alone', () => {
  const join = chatCompletions.replies.join(rules)
  const filters = `data: ${JSON.stringify({ id: 'c', choices: [], prompt_filter_results: [{}], usage: null })}\n\n`
  expect(join.take({ text: filters })).toEqual([{ text: filters }])
  for (const text of [chunk({ content: 'to be ' }), chunk({}, 'length')]) join.take({ text })
  join.goOn({ feed: (text) => text, end: () => '' })
  expect(join.take({ text: filters })).toEqual([])
})
