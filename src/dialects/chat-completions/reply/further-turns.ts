import { isJsonObject, type JsonObject } from '../../../conversation/json-value.ts'
import { isIncomplete } from './incomplete-call.ts'
import type { Reply, ReplyCall } from './reply.ts'
import { anchorOf } from '../../seam.ts'

/** A call of Foldgate's tool, and what it is answered with. */
export type AnsweredCall = { readonly call: ReplyCall; readonly answer: string }

/**
 * The messages, as JSON, by which a model goes on after its calls were answered. `round` is which time it is within one
 * reply: calls without ids get ones of ours, which no two have.
 */
export function recallTurn(
  said: string,
  { kept }: Reply,
  answered: readonly AnsweredCall[],
  round: number,
): readonly string[] {
  const idOf = ({ id }: ReplyCall, position: number): string => (id === '' ? ownId(round, position) : id)
  const calls = answered.map(({ call }, position) => ({ id: idOf(call, position), json: call.json }))
  const asked = {
    role: 'assistant',
    content: said === '' ? null : said,
    ...kept,
    tool_calls: calls.map(({ id, json }) => ({ ...readable(json), id, type: 'function' })),
  }
  const answers = answered.map(({ call, answer }, position) => ({
    role: 'tool',
    tool_call_id: idOf(call, position),
    content: answer,
  }))
  return [asked, ...answers].map((message) => JSON.stringify(message))
}

/** The messages by which a model goes on with a text that was cut. */
export function continuedTextTurn(said: string): readonly string[] {
  const anchor = anchorOf(said)
  const how =
    anchor === ''
      ? 'Go on exactly where it stopped, without repeating anything.'
      : `Go on exactly where it stopped: begin with its last words, once more and unchanged, and continue from there. They were:\n${anchor}`
  return turn(said, `${CUT} ${how}\nAdd no introduction and no remark: both parts are read as one text.`)
}

/** The messages by which a model makes a call again that was cut. */
export function repeatedCallTurn(said: string, toolName: string): readonly string[] {
  const begun = said === '' ? `[calling ${toolName}: cut off]` : said
  return turn(
    begun,
    `${CUT} That was in the middle of the call of ${toolName}, before its arguments were complete, so it was not made. Make the call again in smaller pieces: the first piece now, each short enough to be written whole, and the others in later calls. Add no remark.`,
  )
}

// --- internal ---

const CUT = 'Your reply was cut off by the limit on its length.'

function turn(said: string, asked: string): readonly string[] {
  return [
    JSON.stringify({ role: 'assistant', content: said }),
    JSON.stringify({ role: 'user', content: asked }),
  ]
}

/** Mistral wants nine letters and digits. */
function ownId(round: number, position: number): string {
  return `recall${String((round * CALLS_MAX + position) % 1000).padStart(3, '0')}`
}

/** More calls in one go may share an id with those of the next. */
const CALLS_MAX = 10

/** The call as servers want it back, which read the arguments of past calls as JSON; without its place in a stream. */
function readable(call: ReplyCall['json']): JsonObject {
  const { index: _index, ...rest } = call
  const called = isJsonObject(rest['function']) ? rest['function'] : {}
  return isIncomplete(call) ? { ...rest, function: { ...called, arguments: '{}' } } : rest
}
