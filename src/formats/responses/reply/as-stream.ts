import { isJsonObject } from '../../../json/json-value.ts'
import type { Answers } from '../../answer-contract.ts'
import { readResponse } from '../read-answer.ts'
import { type NewEvent, writeEvent } from '../../typed-events.ts'
import { itemEvents } from './events.ts'
import { outputOf } from './output.ts'

/** The stream of events that says what a plain response says. Null if there is no output in it. */
export function responseAsStream(body: unknown): ReturnType<Answers['asStream']> {
  const facts = readResponse(body)
  if (facts === null || facts.isError || !facts.hasOutput || !isJsonObject(body)) return null
  const begun = { ...body, status: 'in_progress', output: [], usage: null, incomplete_details: null }
  const isIncomplete = body['status'] === 'incomplete'
  const events: readonly NewEvent[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...outputOf(body).flatMap(itemEvents),
    { type: isIncomplete ? 'response.incomplete' : 'response.completed', response: body },
  ]
  const texts = events.map((event, at) => writeEvent(event.type, { ...event, sequence_number: at }))
  return texts.includes(null) ? null : { text: texts.join(''), statesUsage: isJsonObject(body['usage']) }
}
