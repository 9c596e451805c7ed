import { isJsonObject, type JsonObject } from '../../../json/json-value.ts'
import type { Answers } from '../../answer-contract.ts'
import { readAnswer } from '../answers.ts'
import { writeChunk } from './chunk.ts'

/**
 * The stream of events that says what a plain answer says: one chunk with the message of each choice, one with its
 * reason to end, the usage where it is stated. Null where there is no output in it.
 */
export function asStream(body: unknown): ReturnType<Answers['asStream']> {
  const facts = readAnswer(body)
  if (facts === null || facts.isError || !facts.hasOutput || !isJsonObject(body)) return null
  const { choices, usage, ...about } = body
  const answered = Array.isArray(choices) ? choices.filter(isJsonObject) : []
  const chunk = (more: JsonObject): string | null =>
    writeChunk({ ...about, object: 'chat.completion.chunk', ...more })
  const statesUsage = isJsonObject(usage)
  const events = [
    ...answered.map((choice) => chunk({ choices: [messageOf(choice)] })),
    ...answered.map(({ index, finish_reason: reason }) =>
      chunk({ choices: [{ index, delta: {}, finish_reason: reason ?? null }] }),
    ),
    ...(statesUsage ? [chunk({ choices: [], usage })] : []),
    'data: [DONE]\n\n',
  ]
  return events.includes(null) ? null : { text: events.join(''), statesUsage }
}

// --- internal ---

/** A choice whose message is one delta; calls are numbered, as those of a stream are. */
function messageOf({ message, ...choice }: JsonObject): JsonObject {
  const said = isJsonObject(message) ? message : {}
  const calls = said['tool_calls']
  const numbered = Array.isArray(calls)
    ? { tool_calls: calls.map((call, index) => (isJsonObject(call) ? { index, ...call } : call)) }
    : {}
  return { ...choice, delta: { role: 'assistant', ...said, ...numbered }, finish_reason: null }
}
