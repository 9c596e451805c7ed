import { expect, test } from 'vitest'
import { createFailures } from '../../../src/activity/failures.ts'
import { createFurtherAnswers } from '../../../src/request/reply/further-answers.ts'
import { madeBody } from '../../../src/upstream/answer-body.ts'
import type { FurtherRequest } from '../../../src/request/reply/send-further.ts'
import { replyOf } from '../../../src/dialects/chat-completions/reply/reply.ts'
import { outcomeOf, preparedRequest } from './made-outcome.ts'
import { RECALL } from './reply-script.ts'

// A fault in reading back was the request's: a client got Foldgate's own error, or a stream that broke off, where the
// model could have answered without the tool.
test('where reading back fails, the request is answered as if there were no such tool', async () => {
  const form = await preparedRequest()
  const sent: FurtherRequest[] = []
  const failed: string[] = []
  const failures = createFailures((part) => failed.push(part))
  const further = createFurtherAnswers({
    form,
    toolName: RECALL,
    recallRounds: 3,
    continuationsMax: 0,
    roomTokens: 1000,
    count: (text) => text.length,
    send: async (asked) => {
      sent.push(asked)
      return outcomeOf(asked.form, madeBody([]))
    },
    fit: async () => null,
    goesOn: () => true,
    answerRecall: async () => {
      throw new TypeError('a fault in reading back')
    },
    failures,
  })
  const call = { id: 'call_1', type: 'function', function: { name: RECALL, arguments: '{}' } }
  const reply = replyOf({ content: null, tool_calls: [call] }, 'tool_calls', null)
  expect((await further.after(reply)).kind).toBe('answer')
  expect(sent).toEqual([{ form, turns: [], offersRecall: false }])
  expect(failed).toEqual(['recall'])
})
