import { expect, test } from 'vitest'
import { createPlainMessage } from '../../../../src/dialects/messages/reply/plain-reply.ts'
import { continuing, joinedBodies } from './joined.ts'
import { callOf, messageOf, search, text, thought } from './streamed.ts'

const cut = { reason: 'max_tokens' }
const told = 'It was a dark and stormy night, and the rain fell in torrents, except at'
const joined = (...bodies: ReturnType<typeof messageOf>[]) => joinedBodies(bodies, continuing).body

test.each([
  ['calls', [thought(), text('x'), callOf('bash')], {}],
  ['a text that was cut', [thought(), text('Hel')], cut],
  ['a call that was cut', [callOf('write', { a: '' })], cut],
  ['thoughts behind which nothing stands', [text('x'), thought()], cut],
  ['a search', [thought(), ...search(), text('x')], {}],
])('an answer without calls of ours stays as it came: %s', (_, content, about) => {
  expect(joined(messageOf(content, about))).toBeNull()
})

test('what is no message, or an error, is not gone on from', () => {
  const plain = createPlainMessage(continuing)
  const failed = { ...messageOf([text('x')]), error: { type: 'api_error', message: 'x' } }
  for (const none of [undefined, null, 'x', [], {}, { choices: [] }, { type: 'error', error: {} }, failed]) {
    expect(plain.take(none)).toBeNull()
    expect(plain.finish()).toBeNull()
  }
})

test('the client gets one message: the blocks that it can send back, the first id, the usage of all', () => {
  const iteration = { type: 'message', input_tokens: 10, output_tokens: 1 }
  const asking = messageOf([thought(), text('Let me look.'), callOf('recall')], {
    usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1, iterations: [iteration] },
  })
  const answering = messageOf([thought('So it is.'), text('It is 42.')], {
    id: 'msg_2',
    usage: {
      input_tokens: 20,
      cache_read_input_tokens: 100,
      output_tokens: 2,
      iterations: [iteration, { ...iteration, input_tokens: 20 }],
    },
  })
  const { body, replies, usage } = joinedBodies([asking, answering], continuing)
  expect(body).toEqual(
    messageOf([thought(), text('Let me look.'), text('\n\nIt is 42.')], {
      usage: {
        input_tokens: 30,
        cache_read_input_tokens: 190,
        output_tokens: 3,
        iterations: [iteration, iteration, { ...iteration, input_tokens: 20 }],
      },
    }),
  )
  expect(usage).toMatchObject({ promptTokens: 220, completionTokens: 3, cachedTokens: 190 })
  expect(replies.map((reply) => reply?.text)).toEqual(['Let me look.', '\n\nIt is 42.'])
  expect(replies[1]?.kept['content']).toEqual(answering['content'])
})

test('a call of ours beside the client’s is left out, and thoughts behind it', () => {
  const mixed = messageOf([thought(), callOf('recall'), thought('And?'), callOf('bash')])
  expect(joined(mixed)).toEqual(messageOf([thought(), callOf('bash')]))
})

test('one that is not answered any more ends the reply as if it had not been made', () => {
  const asking = messageOf([text('I would look.'), callOf('recall')])
  expect(joined(asking)).toEqual(messageOf([text('I would look.')], { reason: 'end_turn' }))
})

test('a text that was cut goes on in its block, its last words said once', () => {
  const first = messageOf([thought(), text(told)], cut)
  const rest = messageOf([thought('On.'), text(`${told} intervals.`), callOf('bash')])
  expect(joined(first, rest)).toMatchObject({
    content: [thought(), text(`${told} intervals.`), callOf('bash')],
    stop_reason: 'tool_use',
  })
})

test('a call that was cut is left out beside one that is complete, and stays if it is the only one', () => {
  const cutCall = callOf('write', { text: 'ab' })
  expect(joined(messageOf([callOf('read'), cutCall], cut))).toEqual(messageOf([callOf('read')]))
  expect(joined(messageOf([cutCall], cut))).toBeNull()
})

test('one that is made again is made once', () => {
  const first = messageOf([text('I write.'), callOf('write', { text: 'ab' })], cut)
  const again = callOf('write', { text: 'a' }, 'toolu_2')
  expect(joined(first, messageOf([again], { id: 'msg_2' }))).toMatchObject({
    id: 'msg_1',
    content: [text('I write.'), again],
  })
})
