import { expect, test } from 'vitest'
import { responsesReplies } from '../../../../src/dialects/responses/reply/replies.ts'
import { callOf, eventsIn, message, responseOf, streamOf } from './streamed.ts'

const { isDone, errorEvent } = responsesReplies

test('the last word of a stream is the end of its response', () => {
  // A text may speak of such an end.
  const said = message('event: response.completed {"type":"response.completed"} [DONE]')
  for (const about of [{}, { reason: 'max_output_tokens' }]) {
    const events = streamOf([said, callOf('bash')], about, 100).map(({ text }) => text)
    expect(events.filter(isDone)).toEqual(events.slice(-1))
    const bare = events.map((text) => text.replace(/^event: .*\n/, ''))
    expect(bare.filter(isDone)).toEqual(bare.slice(-1))
  }
  const failed = { type: 'response.failed', response: responseOf([], { status: 'failed' }) }
  expect(isDone(`data: ${JSON.stringify(failed)}\n\n`)).toBe(true)
  expect(isDone('data: [DONE]\n\n')).toBe(true)
})

test('an error in the middle of a stream is an event of that name, with all that was said', () => {
  const error = { code: 'server_error', message: 'gone' }
  expect(errorEvent({ error, error_type: 'server' })).toMatch(/^event: error\ndata: .*\n\n$/)
  expect(eventsIn([errorEvent({ error, error_type: 'server' })])).toEqual([
    { type: 'error', error, error_type: 'server' },
  ])
  const bare = { object: 'error', type: 'BadRequestError', message: 'gone' }
  expect(eventsIn([errorEvent(bare)])).toEqual([{ type: 'error', error: bare }])
})
