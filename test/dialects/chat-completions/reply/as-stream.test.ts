import { describe, expect, test } from 'vitest'
import { asStream } from '../../../../src/dialects/chat-completions/reply/as-stream.ts'

const about = { id: 'chatcmpl-1', object: 'chat.completion', created: 7, model: 'm', system_fingerprint: 'f' }
const said = { role: 'assistant', content: 'Hello' }
const call = (id: string) => ({ id, type: 'function', function: { name: 'read', arguments: '{}' } })

function chunksOf(body: unknown): unknown[] {
  const events = (asStream(body)?.text ?? '').split('\n\n').filter((event) => event !== '')
  expect(events.pop()).toBe('data: [DONE]')
  return events.map((event): unknown => JSON.parse(event.slice('data: '.length)))
}

describe('a plain answer as a stream', () => {
  test('one chunk with the message, one with its end, each with what is said of the answer', () => {
    const chunk = { ...about, object: 'chat.completion.chunk' }
    const choices = [{ index: 0, message: said, finish_reason: 'stop', logprobs: null }]
    expect(chunksOf({ ...about, choices })).toEqual([
      { ...chunk, choices: [{ index: 0, delta: said, finish_reason: null, logprobs: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ])
  })

  test('thoughts and calls come as the server gave them, and the calls are numbered', () => {
    const message = {
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm',
      extra_content: { signature: 's' },
      tool_calls: [call('a'), call('b')],
    }
    const [first, last] = chunksOf({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
    expect(first).toMatchObject({
      choices: [
        {
          delta: {
            ...message,
            tool_calls: [
              { index: 0, ...call('a') },
              { index: 1, ...call('b') },
            ],
          },
        },
      ],
    })
    expect(last).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
  })

  test('several choices keep their numbers', () => {
    const choices = [0, 1].map((index) => ({ index, message: said, finish_reason: 'stop' }))
    expect(chunksOf({ choices })).toMatchObject([
      { choices: [{ index: 0, delta: said }] },
      { choices: [{ index: 1, delta: said }] },
      { choices: [{ index: 0, finish_reason: 'stop' }] },
      { choices: [{ index: 1, finish_reason: 'stop' }] },
    ])
  })

  test('the usage comes last, in an event of its own', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 1 }
    const body = { choices: [{ index: 0, message: said, finish_reason: 'stop' }], usage }
    expect(chunksOf(body).at(-1)).toEqual({ object: 'chat.completion.chunk', choices: [], usage })
    expect(asStream(body)?.statesUsage).toBe(true)
  })

  test.each([
    ['no JSON object', 'Hello'],
    ['no choice', { choices: [] }],
    ['nothing said', { choices: [{ index: 0, message: { role: 'assistant', content: '' } }] }],
    ['an error', { error: { message: 'no' }, choices: [{ index: 0, message: said }] }],
    ['what was not read to its end', undefined],
  ])('%s makes none', (_, body) => {
    expect(asStream(body)).toBeNull()
  })
})
