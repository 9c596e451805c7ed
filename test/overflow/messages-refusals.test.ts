import { describe, expect, test } from 'vitest'
import { messagesAnswers } from '../../src/dialects/messages/answers.ts'
import { classifyAnswer, type WholeAnswer } from '../../src/overflow/classify.ts'
import { refusals, type Refusal } from './messages-refusals.ts'

const bodyOf = ({ type, message, beside }: Refusal) =>
  JSON.stringify({ type: 'error', error: { type, message, ...beside }, request_id: 'req_011CSHoEeqs5C35' })

/** What is read of an answer, as far as the sample says what that has to be. */
function readAs({ remedy, sizes }: Refusal, answer: WholeAnswer) {
  const read = classifyAnswer(answer, messagesAnswers)
  return {
    class: read.class,
    remedy: remedy === undefined ? undefined : read.remedy,
    sizes: sizes === undefined ? undefined : [read.window?.tokens, read.promptTokens?.tokens],
  }
}

describe.each(refusals)('$name is of class $class', (refusal) => {
  const { class: answerClass, remedy, sizes } = refusal
  const meant = { class: answerClass, remedy, sizes }

  test('with its status', () => {
    const answer = { status: refusal.status, contentType: 'application/json', body: bodyOf(refusal) }
    expect(readAs(refusal, answer)).toEqual(meant)
  })

  test('as an event of a stream', () => {
    const body = `event: error\ndata: ${bodyOf(refusal)}\n\n`
    expect(readAs(refusal, { status: 200, contentType: 'text/event-stream', body })).toEqual(meant)
  })
})
