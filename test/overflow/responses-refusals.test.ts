import { describe, expect, test } from 'vitest'
import { responsesAnswers } from '../../src/dialects/responses/answers.ts'
import { watchStream } from '../../src/overflow/answer-watch.ts'
import { classifyAnswer, type WholeAnswer } from '../../src/overflow/classify.ts'
import { lookAlikes, overflows, type Refusal } from './responses-refusals.ts'

const created = {
  type: 'response.created',
  response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [], error: null },
}

const failed = ({ error, beside }: Refusal) => ({
  type: 'response.failed',
  response: {
    id: 'resp_1',
    object: 'response',
    status: 'failed',
    background: false,
    output: [],
    error,
    usage: null,
    ...beside,
  },
})

const nested = ({ error, beside }: Refusal) => ({ type: 'error', error, ...beside })

/** The ways in which an error stands in an answer without a stream. */
const bodies: Readonly<Record<string, (refusal: Refusal) => WholeAnswer>> = {
  'with status 400': ({ error, beside }) => plain({ error, ...beside }, 400),
  'with status 200': ({ error, beside }) => plain({ error, ...beside }, 200),
  'of a WebSocket': (refusal) => plain({ ...nested(refusal), status: 400 }, 400),
  'as a failed response': (refusal) => plain(failed(refusal).response, 200),
}

/** The ways in which it stands in a stream. */
const streams: Readonly<Record<string, (refusal: Refusal) => readonly Event[]>> = {
  'as a failed response': (refusal) => [created, failed(refusal)],
  'as an error': (refusal) => [created, nested(refusal)],
  'as a flat error': ({ error, beside }) => [created, { ...error, ...beside, type: 'error' }],
  'as both': (refusal) => [created, nested(refusal), failed(refusal)],
}

describe.each(overflows)('an overflow of $name', (refusal) => {
  const expected = {
    class: 'overflow',
    ...(refusal.windowTokens !== undefined && { window: { tokens: refusal.windowTokens } }),
  }

  test.each(Object.entries(bodies))('%s', (_, answerOf) => {
    expect(classifyAnswer(answerOf(refusal), responsesAnswers)).toMatchObject(expected)
  })

  test.each(Object.entries(streams))('in a stream, %s', (_, eventsOf) => {
    const text = written(eventsOf(refusal))
    expect(watchStream(responsesAnswers, nothingKnown).feed(text)).toMatchObject({
      state: 'overflow',
      classification: expected,
    })
    expect(classifyAnswer(streamed(text), responsesAnswers)).toMatchObject(expected)
  })
})

describe.each(lookAlikes)('no overflow is $name', (refusal) => {
  test.each(Object.entries(bodies))('%s', (_, answerOf) => {
    expect(classifyAnswer(answerOf(refusal), responsesAnswers).class).not.toBe('overflow')
  })

  test.each(Object.entries(streams))('in a stream, %s', (_, eventsOf) => {
    const text = written(eventsOf(refusal))
    expect(watchStream(responsesAnswers, nothingKnown).feed(text).state).toBe('refused')
    expect(classifyAnswer(streamed(text), responsesAnswers).class).not.toBe('overflow')
  })
})

// --- internal ---

type Event = { readonly type: string; readonly [field: string]: unknown }

const nothingKnown = { knownWindowTokens: null }

function plain(body: object, status: number): WholeAnswer {
  return { status, contentType: 'application/json', body: JSON.stringify(body) }
}

function streamed(body: string): WholeAnswer {
  return { status: 200, contentType: 'text/event-stream', body }
}

/** Events as OpenAI sends them, numbered. */
function written(events: readonly Event[]): string {
  return events
    .map(
      (event, index) =>
        `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
    )
    .join('')
}
