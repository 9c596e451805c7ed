import { expect, test } from 'vitest'
import { createPlainReply } from '../../../../src/dialects/chat-completions/reply/plain-reply.ts'
import type { Seam } from '../../../../src/dialects/answer-contract.ts'
import { continuationSeam, paragraphSeam } from '../../../../src/request/reply/seams.ts'

const rules = { toolName: 'recall_conversation', continues: true }

function body(message: object, more: { reason?: string; usage?: object; id?: string } = {}): object {
  const { reason = 'stop', usage, id = 'chatcmpl-1' } = more
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }]
  return { id, object: 'chat.completion', created: 7, model: 'm', choices, ...(usage && { usage }) }
}

const call = (name: string, argumentsText = '{}', id = name) => ({
  id,
  type: 'function',
  function: { name, arguments: argumentsText },
})

/** With the probabilities of its tokens: it is one. */
function part(content: string, reason: string): object {
  const logprobs = { content: [{ token: content }] }
  const message = { role: 'assistant', content }
  return { id: 'x', choices: [{ index: 0, message, logprobs, finish_reason: reason }] }
}

function joined(bodies: readonly object[], seamOf: (said: string) => Seam = paragraphSeam) {
  const plain = createPlainReply(rules)
  bodies.forEach((each, at) => {
    const reply = plain.take(each)
    if (at < bodies.length - 1) plain.goOn(seamOf(reply?.text ?? ''))
  })
  return { body: plain.finish(), usage: plain.usage() }
}

test('an answer without calls of ours stays as it came', () => {
  expect(joined([body({ content: 'x', tool_calls: [call('bash')] })]).body).toBeNull()
  expect(joined([body({ content: 'x' }, { reason: 'length' })]).body).toBeNull()
})

test('what is no single choice with a message is not gone on from', () => {
  const plain = createPlainReply(rules)
  for (const none of [undefined, null, 'x', [], {}, { choices: [] }, { choices: [{}] }, { error: {} }]) {
    expect(plain.take(none)).toBeNull()
    expect(plain.finish()).toBeNull()
  }
  expect(plain.take({ choices: [1, 2] })).toBeNull()
})

test('the client gets one answer: the text of both, the first id, the last reason, the usage of both', () => {
  const asking = body(
    { content: 'Let me look.', reasoning_content: 'Hm. ', tool_calls: [call('recall_conversation')] },
    { reason: 'tool_calls', usage: { prompt_tokens: 10, total_tokens: 12, details: { cached: 1 } } },
  )
  const answering = body(
    { content: 'It is 42.', reasoning_content: 'Ah.' },
    { id: 'other', usage: { prompt_tokens: 20, total_tokens: 25, details: { cached: 2 } } },
  )
  expect(joined([asking, answering]).body).toEqual(
    body(
      { content: 'Let me look.\n\nIt is 42.', reasoning_content: 'Hm. Ah.' },
      { usage: { prompt_tokens: 30, total_tokens: 37, details: { cached: 3 } } },
    ),
  )
})

test('content that was null stays null beside calls', () => {
  const asking = body({ content: null, tool_calls: [call('recall_conversation')] })
  const calling = body({ content: null, tool_calls: [call('bash')] }, { reason: 'tool_calls' })
  expect(joined([asking, calling]).body).toEqual(calling)
})

test('a call of ours beside the client’s is left out', () => {
  const mixed = body(
    { content: null, tool_calls: [call('recall_conversation'), call('bash')] },
    { reason: 'tool_calls' },
  )
  expect(joined([mixed]).body).toEqual(
    body({ content: null, tool_calls: [call('bash')] }, { reason: 'tool_calls' }),
  )
})

test('one that is not answered any more is left out, and nothing is said of calls', () => {
  const asking = body(
    { content: 'I would look.', tool_calls: [call('recall_conversation')] },
    { reason: 'tool_calls' },
  )
  expect(joined([asking]).body).toEqual(body({ content: 'I would look.' }))
})

test('a text that was cut is joined, and so are the probabilities of its tokens', () => {
  const result = joined([part('The wh', 'length'), part('ole.', 'stop')], (said) =>
    continuationSeam(said, ''),
  )
  expect(result.body).toMatchObject({
    choices: [
      {
        message: { content: 'The whole.' },
        finish_reason: 'stop',
        logprobs: { content: [{ token: 'The wh' }, { token: 'ole.' }] },
      },
    ],
  })
})

test('a call that was cut is left out beside one that is complete, and stays where it is the only one', () => {
  const cut = call('write', '{"text":"ab')
  expect(
    joined([body({ content: null, tool_calls: [call('read'), cut] }, { reason: 'length' })]).body,
  ).toEqual(body({ content: null, tool_calls: [call('read')] }, { reason: 'tool_calls' }))
  expect(joined([body({ content: null, tool_calls: [cut] }, { reason: 'length' })]).body).toBeNull()
})
