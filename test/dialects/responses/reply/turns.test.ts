import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/conversation/json-value.ts'
import { readResponseReply } from '../../../../src/dialects/responses/reply/reply.ts'
import { goOnItems, recallItems } from '../../../../src/dialects/responses/reply/turns.ts'
import { callOf, message, responseOf, thought } from './streamed.ts'

/** The items by which a model goes on behind these, all of whose calls were answered. */
function turn(items: readonly JsonObject[], more: object = {}, before = ''): unknown[] {
  const reply = readResponseReply(responseOf(items, { more })) ?? expect.fail('no reply')
  const answered = reply.calls.map((call) => ({ call, answer: `answer to ${call.id}` }))
  return recallItems(before + (reply.text ?? ''), reply, answered, 2).map((item): unknown => JSON.parse(item))
}

const answerTo = (id: string) => ({ type: 'function_call_output', call_id: id, output: `answer to ${id}` })

test('a model’s own items go back as they came, in their order, the answers behind them', () => {
  const items = [
    thought(),
    message('I look.'),
    callOf('recall'),
    thought('rs_2'),
    callOf('recall', '{}', 'fc_2'),
  ]
  expect(turn(items)).toEqual([...items, answerTo('call_fc_recall'), answerTo('call_fc_2')])
})

// The thoughts were bound to a request to go on, which is not there any more.
test('but without thoughts and ids behind a reply that was cut before', () => {
  const { id: _id, ...call } = callOf('recall')
  const said = { type: 'message', role: 'assistant', content: 'It began. I look.' }
  expect(turn([thought(), message('I look.'), callOf('recall')], {}, 'It began. ')).toEqual([
    said,
    call,
    answerTo('call_fc_recall'),
  ])
})

test('thoughts of which there is only an id go back to a server that keeps them', () => {
  const items = [thought('rs_1', ''), callOf('recall')]
  const { id: _id, ...call } = callOf('recall')
  expect(turn(items, { store: true })).toEqual([...items, answerTo('call_fc_recall')])
  expect(turn(items, { store: false })).toEqual([call, answerTo('call_fc_recall')])
  const open = [
    { ...thought('rs_1', ''), content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    callOf('recall'),
  ]
  expect(turn(open)).toEqual([...open, answerTo('call_fc_recall')])
})

test('a call without an id gets one, and one that was cut has arguments', () => {
  const { call_id: _call, id: _id, ...bare } = callOf('recall', '{"se')
  expect(turn([bare, bare].map((each) => ({ ...each })))).toEqual([
    { ...bare, call_id: 'recall_2_0', arguments: '{}' },
    { ...bare, call_id: 'recall_2_1', arguments: '{}' },
    { ...answerTo(''), call_id: 'recall_2_0' },
    { ...answerTo(''), call_id: 'recall_2_1' },
  ])
})

test('a model goes on behind what it said', () => {
  expect(goOnItems('Once', 'Go on.').map((item): unknown => JSON.parse(item))).toEqual([
    { type: 'message', role: 'assistant', content: 'Once' },
    { type: 'message', role: 'user', content: 'Go on.' },
  ])
})
