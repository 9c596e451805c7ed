import { describe, expect, test } from 'vitest'
import { messageAsStream } from '../../../../src/dialects/messages/reply/as-stream.ts'
import { callOf, eventsIn, messageOf, readStrictly, search, text, thought } from './streamed.ts'

function eventsOf(body: unknown): string[] {
  return (messageAsStream(body)?.text ?? '').split(/(?<=\n\n)/).filter((event) => event !== '')
}

describe('a plain message as a stream', () => {
  const content = [
    thought(),
    { type: 'redacted_thinking', data: 'secret' },
    text('Hello', { citations: [{ type: 'char_location', cited_text: 'Hel' }] }),
    ...search(),
    callOf('bash', { command: 'ls "a"' }),
  ]
  const usage = { input_tokens: 3, cache_read_input_tokens: 9, output_tokens: 4, iterations: [] }
  const more = { container: { id: 'c' }, stop_details: null, input_transformations: [] }
  const body = messageOf(content, { usage, more })

  test('a strict client reads the same message from it', () => {
    expect(readStrictly(eventsOf(body))).toEqual(body)
    expect(messageAsStream(body)?.statesUsage).toBe(true)
  })

  test('its events are those of Anthropic’s, each named', () => {
    const events = eventsOf(messageOf([text('Hello')]))
    expect(events[0]).toMatch(/^event: message_start\ndata: \{/)
    expect(eventsIn(events)).toMatchObject([
      { type: 'message_start', message: { id: 'msg_1', content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ])
  })

  test('the server’s own compaction is stated by the delta that clients read', () => {
    const compaction = { type: 'compaction', content: 'It began.', encrypted_content: 'x' }
    expect(eventsIn(eventsOf(messageOf([compaction]))).slice(1, 3)).toMatchObject([
      { content_block: { type: 'compaction', content: null } },
      { delta: { type: 'compaction_delta', content: 'It began.', encrypted_content: 'x' } },
    ])
  })

  test.each([
    ['no JSON object', 'Hello'],
    ['no content', messageOf([])],
    ['nothing said', messageOf([thought(''), text('')])],
    ['an error', { type: 'error', error: { type: 'api_error', message: 'no' } }],
    ['what was not read to its end', undefined],
  ])('%s makes none', (_, answer) => {
    expect(messageAsStream(answer)).toBeNull()
  })
})
