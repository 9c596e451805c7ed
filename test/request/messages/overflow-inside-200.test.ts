import { expect, test } from 'vitest'
import { events, json, type Script } from '../../support/fake-upstream.ts'
import { standWith } from '../../support/stand.ts'
import { contentOf, post, roundsOf, user } from './stand.ts'

function event(type: string, more: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
}

const usage = { input_tokens: 9_000, output_tokens: 0 }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'local', content: [], usage }
const started = event('message_start', { message: { ...message, stop_reason: null } })
const ended = [
  event('message_delta', { delta: { stop_reason: 'model_context_window_exceeded' }, usage }),
  event('message_stop', {}),
]
const error = { type: 'invalid_request_error', message: 'prompt is too long' }
const fine = json({ ...message, content: [{ type: 'text', text: 'Fine.' }], stop_reason: 'end_turn' })

// A server that imitates Anthropic ran a model of Claude's name with a small window, and said so inside a 200. What the table has of
// the name made that seem impossible: the first such answer reached the client as it was.
test.each<[string, boolean, Script]>([
  ['an error as the first event', true, events([event('error', { error })])],
  ['an error behind the beginning of a message', true, events([started, event('error', { error })])],
  ['a stream that ends with nothing at the window', true, events([started, ...ended])],
  ['an error inside a plain answer', false, json({ type: 'error', error })],
  [
    'a plain answer that is empty at the window',
    false,
    json({ ...message, stop_reason: 'model_context_window_exceeded' }),
  ],
])('%s is recovered, far below a window that only the table has', async (_name, stream, refusal) => {
  await using at = await standWith([refusal, fine])
  const messages = [user('Begin.'), ...roundsOf(12)]
  const body = { model: 'claude-haiku-4-5', stream, messages }
  const answer = await post({ foldgate: at }, body)
  expect(answer.headers.get('x-foldgate-action')).toBe('recovered')
  const others = await post({ foldgate: at }, body, { 'x-api-key': 'of-another' })
  expect(others.headers.get('x-foldgate-window')).toBe('200000;source=table')
  expect(contentOf(answer)).toEqual([{ type: 'text', text: 'Fine.' }])
  const [first, second] = at.upstream.requests
  expect(second?.body.length).toBeLessThan((first?.body.length ?? 0) * 0.8)
})
