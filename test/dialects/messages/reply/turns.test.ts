import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/conversation/json-value.ts'
import { readMessageReply } from '../../../../src/dialects/messages/reply/reply.ts'
import {
  goOnMessages,
  recallMessages,
  unboundMessages,
} from '../../../../src/dialects/messages/reply/turns.ts'
import { callOf, messageOf, search, text, thought } from './streamed.ts'

/** The messages, as JSON, by which a model goes on behind these blocks, all of whose calls were answered. */
function turn(content: readonly JsonObject[], before = '', reason = 'tool_use'): readonly string[] {
  const reply = readMessageReply(messageOf(content, { reason })) ?? expect.fail('no reply')
  const answered = reply.calls.map((call) => ({ call, answer: `answer to ${call.id}` }))
  return recallMessages(before + (reply.text ?? ''), reply, answered, 2)
}

const parsed = (messages: readonly string[]) => messages.map((message): unknown => JSON.parse(message))
const answerTo = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: `answer to ${id}` })
const secret = { type: 'redacted_thinking', data: 'x' }

test('a model’s own blocks go back as they came, in their order, the answers in one message behind them', () => {
  const content = [
    thought(),
    secret,
    text('I look.'),
    ...search(),
    thought('Hm?'),
    callOf('recall'),
    callOf('recall', {}, 'toolu_2'),
  ]
  expect(parsed(turn(content))).toEqual([
    { role: 'assistant', content },
    { role: 'user', content: [answerTo('toolu_recall'), answerTo('toolu_2')] },
  ])
})

// Models write blank texts before a call, and no server takes one back.
test('but for blank texts', () => {
  expect(parsed(turn([thought(), text('\n\n'), callOf('recall'), text('')]))).toMatchObject([
    { content: [thought(), callOf('recall')] },
    {},
  ])
})

// The thoughts were bound to a request to go on, which is not there any more.
test('and without thoughts behind a reply that was cut before', () => {
  expect(parsed(turn([thought(), text('I look.'), callOf('recall')], 'It began. '))).toEqual([
    { role: 'assistant', content: [text('It began. I look.'), callOf('recall')] },
    { role: 'user', content: [answerTo('toolu_recall')] },
  ])
})

test('a call without an id gets one, and one that was cut has arguments', () => {
  const { id: _id, ...bare } = callOf('recall', { search: 'x' })
  expect(parsed(turn([{ ...bare }, { ...bare, input: { se: 1 } }], '', 'max_tokens'))).toEqual([
    {
      role: 'assistant',
      content: [
        { ...bare, id: 'recall_2_0' },
        { ...bare, id: 'recall_2_1', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { ...answerTo(''), tool_use_id: 'recall_2_0' },
        { ...answerTo(''), tool_use_id: 'recall_2_1' },
      ],
    },
  ])
})

test('a model goes on behind what it said', () => {
  expect(parsed(goOnMessages('Once', 'Go on.'))).toEqual([
    { role: 'assistant', content: 'Once' },
    { role: 'user', content: 'Go on.' },
  ])
})

test('behind another prefix bound thoughts are left out, and what nobody has bound stays', () => {
  const plain = { type: 'thinking', thinking: 'Plainly.', signature: '' }
  const [asked = '', answers = ''] = turn([thought(), secret, plain, text('I look.'), callOf('recall')])
  const [unbound = '', same] = unboundMessages([asked, answers])
  expect(parsed([unbound])).toEqual([
    { role: 'assistant', content: [plain, text('I look.'), callOf('recall')] },
  ])
  expect(same).toBe(answers)
  const free = [...goOnMessages('Once', 'Go on.')]
  expect(unboundMessages(free)).toBe(free)
})
