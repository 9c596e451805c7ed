import { expect, test } from 'vitest'
import { violationsOf } from '../support/chat-completions.ts'
import { policyOf, subjectOf } from '../support/subject.ts'
import { send } from './sending.ts'

const task = { role: 'user', content: 'Go.' }

function round(ids: readonly string[], content: (id: string) => string): object[] {
  const calls = ids.map((id) => ({
    id,
    type: 'function',
    function: { name: 'read', arguments: `{"p":"${id}"}` },
  }))
  return [
    { role: 'assistant', content: null, tool_calls: calls },
    ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: content(id) })),
  ]
}

test.each([
  [20, 100, 0.9],
  [64, 100, 0.8],
  [64, 190, 0.8],
  [200, 190, 0.6],
])(
  'an open round of %i parallel calls is clipped where that is enough, not thrown away',
  (calls, chars, share) => {
    // Where the frames of the calls alone stood above the level, nothing further was cut and all was folded.
    const ids = Array.from({ length: calls }, (_, number) => `call_${number}`)
    const conversation = [task, ...round(ids, (id) => `${id} `.repeat(chars / id.length))]
    const whole = send(conversation, { budgetTokens: 1_000_000 })
    const budgetTokens = Math.floor(whole.tokens * share)
    const { messages, tokens } = send(conversation, { budgetTokens })
    expect(messages).toHaveLength(conversation.length)
    expect(tokens).toBeLessThanOrEqual(budgetTokens)
  },
)

test('a name that stands again in a result that was cleared is in the recap all the same', () => {
  // It was taken to be readable in the tail, where only the placeholder of its result stood: naming a thing
  // twice lost it.
  const rounds = Array.from({ length: 60 }, (_, number) =>
    round([`call_${number}`], () =>
      number === 5 || number === 51
        ? 'deployed deploy-7f3a91c2-staging '.repeat(9)
        : 'nothing new here '.repeat(18),
    ),
  ).flat()
  const policy = policyOf({ clear: { keep_results: 2 } })
  for (const budgetTokens of [3_000, 4_000, 6_000]) {
    const { texts } = send([task, ...rounds], { budgetTokens, policy })
    expect(texts.join('\n')).toContain('7f3a91c2')
  }
})

test('a forced compaction is made once at a point: a client that tries again gets the same', () => {
  // Each further try shrank the conversation again, down to nothing.
  const rounds = Array.from({ length: 40 }, (_, number) =>
    round([`call_${number}`], () => 'some output '.repeat(30)),
  ).flat()
  const conversation = [task, ...rounds]
  const first = send(conversation, { budgetTokens: 100_000, forced: true })
  const again = send(conversation, { budgetTokens: 100_000, forced: true, newest: first.compaction })
  expect(first.compaction).not.toBeNull()
  expect(again.texts).toEqual(first.texts)
})

test('a strict template gets roles that alternate, also where a plan stood between the user and the calls', () => {
  // The plan was folded and its calls were not: then they were taken for a second answer without a question.
  const conversation = [
    { role: 'system', content: 'Be brief.' },
    task,
    { role: 'assistant', content: 'First I read, then I repair. '.repeat(300) },
    ...round(['call_1'], () => 'some output '.repeat(20)),
    { role: 'user', content: 'And now?' },
  ]
  for (const budgetTokens of [900, 1_500, 2_000]) {
    const { messages } = send(conversation, { budgetTokens, strict: true })
    expect(
      violationsOf(
        subjectOf(messages).messages.map(({ facts }) => facts),
        'strict',
      ),
    ).toEqual([])
  }
})
