import { describe, expect, test } from 'vitest'
import { responseAsStream } from '../../../../src/dialects/responses/reply/as-stream.ts'
import { callOf, eventsIn, message, readBySdk, responseOf, search, thought } from './streamed.ts'

function eventsOf(body: unknown): string[] {
  return (responseAsStream(body)?.text ?? '').split(/(?<=\n\n)/).filter((event) => event !== '')
}

describe('a plain response as a stream', () => {
  const refusal = message('', 'msg_2', { content: [{ type: 'refusal', refusal: 'No.' }] })
  const patch = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_9', name: 'patch', input: '***' }
  const output = [thought(), message('Hello'), search(), callOf('bash', '{"a":1}'), patch, refusal]
  const body = responseOf(output, { usage: { input_tokens: 3, output_tokens: 4 } })

  test('OpenAI’s own library reads the same response from it', async () => {
    expect(await readBySdk(eventsOf(body))).toMatchObject(body)
    expect(responseAsStream(body)?.statesUsage).toBe(true)
  })

  test('its events are those of OpenAI’s, with numbers from 0 on', () => {
    const [begun, said] = [
      eventsOf(responseOf([message('Hello')])),
      eventsIn(eventsOf(responseOf([message('Hello')]))),
    ]
    expect(begun[0]).toMatch(/^event: response\.created\ndata: \{/)
    expect(said.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const all = eventsIn(eventsOf(body))
    expect(all.map((event) => event['sequence_number'])).toEqual(all.map((_, at) => at))
  })

  test('one that was cut ends so', () => {
    const cut = responseOf([message('Hel')], { reason: 'max_output_tokens' })
    expect(eventsIn(eventsOf(cut)).at(-1)).toMatchObject({ type: 'response.incomplete', response: cut })
  })

  test.each([
    ['no JSON object', 'Hello'],
    ['no output', responseOf([])],
    ['nothing said', responseOf([thought(), message('')])],
    ['an error', { ...responseOf([message('x')]), error: { code: 'server_error', message: 'no' } }],
    ['what was not read to its end', undefined],
  ])('%s makes none', (_, answer) => {
    expect(responseAsStream(answer)).toBeNull()
  })
})
