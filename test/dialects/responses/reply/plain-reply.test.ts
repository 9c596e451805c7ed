import { expect, test } from 'vitest'
import { createPlainResponse } from '../../../../src/dialects/responses/reply/plain-reply.ts'
import { continuing, joinedBodies } from './joined.ts'
import { callOf, message, responseOf, search, thought } from './streamed.ts'

const usage = (tokens: number) => ({ input_tokens: tokens, output_tokens: 1, total_tokens: tokens + 1 })
const cut = { reason: 'max_output_tokens' }
const told = 'It was a dark and stormy night, and the rain fell in torrents, except at'
const joined = (...bodies: ReturnType<typeof responseOf>[]) => joinedBodies(bodies, continuing).body

test.each([
  ['calls', [thought(), message('x'), callOf('bash')], {}],
  ['a text that was cut', [thought(), message('Hel')], cut],
  ['a call that was cut', [callOf('write', '{"a')], cut],
  ['thoughts behind which nothing stands', [message('x'), thought()], cut],
  ['a search', [thought(), search(), message('x')], {}],
])('an answer without calls of ours stays as it came: %s', (_, items, about) => {
  expect(joined(responseOf(items, about))).toBeNull()
})

test('what is no response, or a failed one, is not gone on from', () => {
  const plain = createPlainResponse(continuing)
  const failed = responseOf([], { status: 'failed', more: { error: { code: 'server_error', message: 'x' } } })
  for (const none of [undefined, null, 'x', [], {}, { choices: [] }, { error: {} }, failed]) {
    expect(plain.take(none)).toBeNull()
    expect(plain.finish()).toBeNull()
  }
})

test('the client gets one response: the items of both that it can send back, the first id, the usage of both', () => {
  const asking = responseOf([thought(), message('Let me look.'), thought('rs_2'), callOf('recall')], {
    usage: usage(10),
  })
  const answering = responseOf([thought('rs_3'), message('It is 42.', 'msg_2')], {
    id: 'resp_22',
    usage: usage(20),
    more: { output_text: 'It is 42.' },
  })
  const { body, replies, usage: total } = joinedBodies([asking, answering], continuing)
  expect(body).toEqual(
    responseOf([thought(), message('Let me look.'), message('\n\nIt is 42.', 'msg_1_1')], {
      usage: { input_tokens: 30, output_tokens: 2, total_tokens: 32 },
      more: { output_text: 'Let me look.\n\nIt is 42.' },
    }),
  )
  expect(total).toEqual({
    promptTokens: 30,
    completionTokens: 2,
    cachedTokens: null,
    cacheWrittenTokens: null,
  })
  expect(replies.map((reply) => reply?.text)).toEqual(['Let me look.', '\n\nIt is 42.'])
  expect(replies[1]?.kept['items']).toEqual(answering['output'])
})

test('a call of ours beside the client’s is left out, and thoughts that led to nothing else', () => {
  const mixed = responseOf([thought(), callOf('recall'), thought('rs_2'), callOf('bash')])
  expect(joined(mixed)).toEqual(responseOf([{ ...callOf('bash'), id: 'fc_1_1' }]))
})

test('one that is not answered any more is left out', () => {
  const asking = responseOf([message('I would look.'), thought(), callOf('recall')])
  expect(joined(asking)).toEqual(responseOf([message('I would look.')]))
})

test('a message that was cut goes on under its id, its last words said once', () => {
  const first = responseOf([thought(), message(told)], cut)
  const rest = responseOf([thought('rs_2'), message(`${told} intervals.`, 'msg_2'), callOf('bash')])
  expect(joined(first, rest)).toEqual(
    responseOf([thought(), message(`${told} intervals.`), { ...callOf('bash'), id: 'fc_1_1' }]),
  )
})

test('a content that is a text goes on as a part', () => {
  const first = responseOf([message('', 'msg_1', { content: told })], cut)
  const rest = responseOf([message('', 'msg_2', { content: `${told} intervals.` })])
  expect(joined(first, rest)).toMatchObject({
    output: [{ content: [{ type: 'output_text', text: `${told} intervals.` }] }],
  })
})

test('a call that was cut is left out beside one that is complete, and stays if it is the only one', () => {
  const cutCall = callOf('write', '{"text":"ab')
  expect(joined(responseOf([callOf('read'), cutCall], cut))).toEqual(responseOf([callOf('read')]))
  expect(joined(responseOf([cutCall], cut))).toBeNull()
})

test('one that is made again is made once', () => {
  const first = responseOf([message('I write.'), callOf('write', '{"text":"ab')], cut)
  const again = callOf('write', '{"text":"a"}', 'fc_2')
  expect(joined(first, responseOf([again], { id: 'resp_2' }))).toEqual(
    responseOf([message('I write.'), { ...again, id: 'fc_1_1' }]),
  )
})
