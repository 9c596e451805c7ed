import { expect, test } from 'vitest'
import type { Answers } from '../../src/formats/answer-contract.ts'
import { messagesAnswers } from '../../src/formats/messages/messages.ts'
import { responsesAnswers } from '../../src/formats/responses/responses.ts'
import { watchStream } from '../../src/overflow/answer-watch.ts'
import type { AnswerClass, Remedy } from '../../src/overflow/classification.ts'
import { classifyAnswer, type WholeAnswer } from '../../src/overflow/classify.ts'
import { recordsIn } from './records.ts'

/** An error as servers of Anthropic's Messages state it, and what it means. */
type OfMessages = {
  readonly name: string
  readonly class: AnswerClass
  readonly remedy?: Remedy
  /** The window and the prompt that it states. */
  readonly sizes?: readonly [windowTokens: number, promptTokens: number]
  readonly status: number
  readonly error: object
}

// Of those about thoughts another order of messages cures none: what does is known by its words alone.
test('an error of Messages is of its class, with its status and as an event of a stream', () => {
  const failures = recordsIn('messages-refusals.jsonl', (line): OfMessages => JSON.parse(line)).flatMap(
    (refusal) => {
      const { name, remedy, sizes, status } = refusal
      const body = JSON.stringify({ type: 'error', error: refusal.error, request_id: 'req_011CSHoEeqs5C35' })
      const meant = JSON.stringify([refusal.class, remedy, sizes])
      return [plain(body, status), streamed(`event: error\ndata: ${body}\n\n`)].flatMap((answer) => {
        const read = classifyAnswer(answer, messagesAnswers)
        const found = JSON.stringify([
          read.class,
          remedy && read.remedy,
          sizes && [read.window?.tokens, read.promptTokens?.tokens],
        ])
        return found === meant ? [] : [`${name}, ${answer.contentType}: ${found}, not ${meant}`]
      })
    },
  )
  expect(failures).toEqual([])
})

/** An error as servers of the Responses API state it: whether a shorter input cures it, and the window that it states. */
type OfResponses = {
  readonly name: string
  readonly isOverflow: boolean
  readonly error: object
  readonly beside?: object
  readonly windowTokens?: number
}

const created = {
  type: 'response.created',
  response: { id: 'resp_1', object: 'response', status: 'in_progress', output: [], error: null },
}

const failed = ({ error, beside }: OfResponses) => ({
  type: 'response.failed',
  response: {
    ...created.response,
    status: 'failed',
    background: false,
    error,
    usage: null,
    ...beside,
  },
})

const nested = ({ error, beside }: OfResponses) => ({ type: 'error', error, ...beside })

/** The ways in which an error stands in an answer without a stream, and in one. */
const bodies: Readonly<Record<string, (refusal: OfResponses) => WholeAnswer>> = {
  'with status 400': ({ error, beside }) => plain({ error, ...beside }, 400),
  'with status 200': ({ error, beside }) => plain({ error, ...beside }, 200),
  'of a WebSocket': (refusal) => plain({ ...nested(refusal), status: 400 }, 400),
  'as a failed response': (refusal) => plain(failed(refusal).response, 200),
}
const streams: Readonly<Record<string, (refusal: OfResponses) => readonly Event[]>> = {
  'in a stream, as a failed response': (refusal) => [created, failed(refusal)],
  'in a stream, as an error': (refusal) => [created, nested(refusal)],
  'in a stream, as a flat error': ({ error, beside }) => [created, { ...error, ...beside, type: 'error' }],
  'in a stream, as both': (refusal) => [created, nested(refusal), failed(refusal)],
}

test('an error of Responses is an overflow, or none, in every place where it may stand', () => {
  const failures = recordsIn('responses-refusals.jsonl', (line): OfResponses => JSON.parse(line)).flatMap(
    (refusal) => {
      const { isOverflow, windowTokens } = refusal
      const isRight = (answer: WholeAnswer): boolean => {
        const read = classifyAnswer(answer, responsesAnswers)
        if (!isOverflow) return read.class !== 'overflow'
        return read.class === 'overflow' && (windowTokens ?? read.window?.tokens) === read.window?.tokens
      }
      const wrong = [
        ...Object.entries(bodies).filter(([, answerOf]) => !isRight(answerOf(refusal))),
        ...Object.entries(streams).filter(([, eventsOf]) => {
          const text = written(eventsOf(refusal))
          return (
            !isRight(streamed(text)) ||
            watched(responsesAnswers, text) !== (isOverflow ? 'overflow' : 'refused')
          )
        }),
      ]
      return wrong.map(([where]) => `${refusal.name} ${where}`)
    },
  )
  expect(failures).toEqual([])
})

type Event = { readonly type: string; readonly [field: string]: unknown }

function plain(body: object | string, status: number): WholeAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { status, contentType: 'application/json', body: text }
}

const streamed = (body: string): WholeAnswer => ({ status: 200, contentType: 'text/event-stream', body })

const watched = (answers: Answers, text: string): string =>
  watchStream(answers, { knownWindowTokens: null }).feed(text).state

/** Events as OpenAI sends them, numbered. */
function written(events: readonly Event[]): string {
  const numbered = events.map((event, index) => ({ ...event, sequence_number: index }))
  return numbered.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}
