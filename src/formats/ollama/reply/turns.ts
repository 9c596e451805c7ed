import type { AnsweredCall, Reply } from '../../answer-contract.ts'

/** The messages, as JSON, by which a model goes on after its calls were answered: results stand in the order of the calls. */
export function recallTurns(
  said: string,
  reply: Reply,
  answered: readonly AnsweredCall[],
): readonly string[] {
  return [
    { role: 'assistant', content: said, ...reply.kept, tool_calls: answered.map(({ call }) => call.json) },
    ...answered.map(({ call: { id, name }, answer }) => ({
      role: 'tool',
      tool_name: name,
      ...(id === '' ? {} : { tool_call_id: id }),
      content: answer,
    })),
  ].map((message) => JSON.stringify(message))
}

/** The messages by which a model goes on with what it `said`, as it is `asked` to. */
export function goOnTurns(said: string, asked: string): readonly string[] {
  return [
    JSON.stringify({ role: 'assistant', content: said }),
    JSON.stringify({ role: 'user', content: asked }),
  ]
}
