import { isJsonObject, type JsonObject } from '../../../json/json-value.ts'
import { unboundTurns } from '../thoughts.ts'
import type { AnsweredCall, Reply, ReplyCall } from '../../answer-contract.ts'
import { isIncompleteCall } from './streamed-calls.ts'

/** The messages, as JSON, by which a model goes on after its calls were answered. */
export function recallTurn(said: string, reply: Reply, answered: readonly AnsweredCall[]): readonly string[] {
  const asked = {
    role: 'assistant',
    content: said === '' ? null : said,
    ...reply.kept,
    tool_calls: answered.map(({ call }) => ({ ...readable(call), id: call.id, type: 'function' })),
  }
  const answers = answered.map(({ call: { id }, answer }) => ({
    role: 'tool',
    tool_call_id: id,
    content: answer,
  }))
  const turns = [asked, ...answers].map((message) => JSON.stringify(message))
  // If more was said than this answer says, its thoughts are bound to a request to go on that is not there any more.
  return said === (reply.text ?? '') ? turns : unboundTurns(turns)
}

// --- internal ---

/** The call as servers want it back, which read the arguments of past calls as JSON. */
function readable({ json }: ReplyCall): JsonObject {
  const called = isJsonObject(json['function']) ? json['function'] : {}
  return isIncompleteCall(json) ? { ...json, function: { ...called, arguments: '{}' } } : json
}
