import { isJsonObject, type JsonObject } from '../../../json/json-value.ts'
import { unboundTurns } from '../thoughts.ts'
import type { AnsweredCall, Reply, ReplyCall } from '../../answer-contract.ts'
import { isIncompleteCall } from './streamed-calls.ts'

/**
 * The messages, as JSON, by which a model goes on after its calls were answered. `round` is which time it is within one
 * reply: calls without ids get ones of ours, which no two have.
 */
export function recallTurn(
  said: string,
  reply: Reply,
  answered: readonly AnsweredCall[],
  round: number,
): readonly string[] {
  const idOf = ({ id }: ReplyCall, position: number): string => (id === '' ? ownId(round, position) : id)
  const calls = answered.map(({ call }, position) => ({ id: idOf(call, position), call }))
  const asked = {
    role: 'assistant',
    content: said === '' ? null : said,
    ...reply.kept,
    tool_calls: calls.map(({ id, call }) => ({ ...readable(call), id, type: 'function' })),
  }
  const answers = answered.map(({ call, answer }, position) => ({
    role: 'tool',
    tool_call_id: idOf(call, position),
    content: answer,
  }))
  const turns = [asked, ...answers].map((message) => JSON.stringify(message))
  // If more was said than this answer says, its thoughts are bound to a request to go on that is not there any more.
  return said === (reply.text ?? '') ? turns : unboundTurns(turns)
}

/** The messages by which a model goes on with what it `said`, as it is `asked` to. */
export function goOnTurn(said: string, asked: string): readonly string[] {
  return [
    JSON.stringify({ role: 'assistant', content: said }),
    JSON.stringify({ role: 'user', content: asked }),
  ]
}

// --- internal ---

/** Mistral wants nine letters and digits. */
function ownId(round: number, position: number): string {
  return `recall${String((round * CALLS_MAX + position) % 1000).padStart(3, '0')}`
}

/** More calls in one go may share an id with those of the next. */
const CALLS_MAX = 10

/** The call as servers want it back, which read the arguments of past calls as JSON. */
function readable({ json }: ReplyCall): JsonObject {
  const called = isJsonObject(json['function']) ? json['function'] : {}
  return isIncompleteCall(json) ? { ...json, function: { ...called, arguments: '{}' } } : json
}
