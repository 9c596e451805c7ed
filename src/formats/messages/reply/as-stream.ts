import { isJsonObject, type JsonObject } from '../../../json/json-value.ts'
import type { Answers } from '../../answer-contract.ts'
import { readMessageAnswer } from '../read-answer.ts'
import type { NewEvent } from '../../typed-events.ts'
import { blockEvents, writeMessageEvent } from './events.ts'
import { contentOf } from './blocks.ts'

/** The stream of events that says what a plain message says. Null if there is no output in it. */
export function messageAsStream(body: unknown): ReturnType<Answers['asStream']> {
  const facts = readMessageAnswer(body)
  if (facts === null || facts.isError || !facts.hasOutput || !isJsonObject(body)) return null
  const { usage, context_management: managed } = body
  const ends = stated(body, 'stop_reason', 'stop_sequence', 'stop_details', 'container')
  const unsaid = Object.fromEntries(Object.keys(ends).map((key) => [key, null]))
  const blocks = contentOf(body).map(blockEvents)
  if (blocks.includes(null)) return null
  const events: readonly NewEvent[] = [
    { type: 'message_start', message: { ...body, content: [], ...unsaid } },
    ...blocks.flatMap((each) => each ?? []),
    {
      type: 'message_delta',
      delta: ends,
      ...(managed === undefined ? {} : { context_management: managed }),
      ...(usage === undefined ? {} : { usage }),
    },
    { type: 'message_stop' },
  ]
  const texts = events.map(writeMessageEvent)
  return texts.includes(null) ? null : { text: texts.join(''), statesUsage: isJsonObject(usage) }
}

// --- internal ---

function stated(body: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => key in body).map((key) => [key, body[key]]))
}
