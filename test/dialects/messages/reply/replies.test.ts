import { expect, test } from 'vitest'
import { messagesReplies } from '../../../../src/dialects/messages/reply/replies.ts'
import { callOf, eventsIn, streamOf, text } from './streamed.ts'

const { isDone, errorEvent } = messagesReplies

test('the last word of a stream is the end of its message', () => {
  // A text may speak of such an end.
  const said = text('event: message_stop {"type":"message_stop"} [DONE] event: error')
  const events = streamOf([said, callOf('bash', { type: 'error' })], {}, 100).map(({ text: event }) => event)
  expect(events.filter(isDone)).toEqual(events.slice(-1))
  const bare = events.map((event) => event.replace(/^event: .*\n/, ''))
  expect(bare.filter(isDone)).toEqual(bare.slice(-1))
  expect(isDone('data: [DONE]\n\n')).toBe(true)
  expect(isDone('event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n')).toBe(true)
})

test('an error in the middle of a stream is an event of that name, with all that was said', () => {
  const stated = { type: 'error', error: { type: 'overloaded_error', message: 'x' }, request_id: 'req_1' }
  expect(errorEvent(stated)).toMatch(/^event: error\ndata: .*\n\n$/)
  expect(eventsIn([errorEvent(stated)])).toEqual([stated])
  const { error } = stated
  expect(eventsIn([errorEvent({ error })])).toEqual([{ type: 'error', error }])
  const bare = { code: 500, message: 'gone' }
  expect(eventsIn([errorEvent(bare)])).toEqual([{ type: 'error', error: bare }])
})
