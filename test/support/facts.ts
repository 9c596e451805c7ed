import { readFacts } from './chat-completions.ts'
import type { Message, MessageFacts } from '../../src/conversation/message.ts'
import { finish } from '../../src/conversation/source.ts'
import { entriesOf } from './body-limits.ts'
import { sourceOf } from './source.ts'

/** The facts of a message given as JSON text or as a value; throws where it is unreadable. */
export function factsOf(message: string | object): MessageFacts {
  const json = typeof message === 'string' ? message : JSON.stringify(message)
  const source = sourceOf(`[${json}]`)
  const [entry] = entriesOf(source)
  const facts = entry === undefined ? null : finish(readFacts(source, entry))
  if (facts === null) throw new Error('unreadable message')
  return facts
}

/** Messages without a body, for what looks at facts alone. */
export function messagesOf(messages: readonly object[]): readonly Message[] {
  return messages.map((message) => {
    const facts = factsOf(message)
    return { start: 0, end: facts.bytes, facts }
  })
}

export const system = { role: 'system', content: 'be brief' }
export const user = { role: 'user', content: 'please' }
export const assistant = { role: 'assistant', content: 'done' }

/** An assistant message that calls `look` under each of the ids; an undefined id is left out. */
export function calling(...ids: readonly (string | undefined)[]): object {
  const calls = ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } }))
  return { role: 'assistant', content: null, tool_calls: calls }
}

export function result(id?: string): object {
  return { role: 'tool', tool_call_id: id, content: 'seen' }
}
