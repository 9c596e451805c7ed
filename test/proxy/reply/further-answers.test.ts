import { expect, test } from 'vitest'
import { createFactsReader } from '../../../src/conversation/facts.ts'
import { createValidatedValues } from '../../../src/dialects/validated-values.ts'
import { FoldgateError } from '../../../src/errors.ts'
import { createFailures } from '../../../src/proxy/failures.ts'
import { createFurtherAnswers } from '../../../src/proxy/reply/further-answers.ts'
import { bodyOf } from '../../../src/upstream/answer-body.ts'
import { digest } from '../../../src/proxy/request/body-source.ts'
import { readBytes } from '../../../src/proxy/request/read-chat.ts'
import { asItCame, type Prepared } from '../../../src/proxy/rewrite.ts'
import type { Outcome } from '../../../src/proxy/send/send.ts'
import type { FurtherRequest } from '../../../src/proxy/reply/send-further.ts'
import { replyOf } from '../../../src/replies/reply.ts'
import { RECALL } from './reply-script.ts'

async function request(): Promise<Prepared> {
  const bytes = Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hi"}]}')
  const readFacts = createFactsReader(digest, { entriesMax: 10 })
  const validatedOf = createValidatedValues({ entriesMax: 10 })
  const chat = await readBytes(bytes, 'scope', {
    readFacts,
    validatedOf,
  })
  if (typeof chat === 'string') throw new Error(`it cannot be read: ${chat}`)
  return asItCame(chat, 10)
}

function answerTo(prepared: Prepared): Outcome {
  const answer = {
    status: 200,
    statusText: 'OK',
    rawHeaders: [],
    body: bodyOf([]),
    address: 'http://upstream',
    failure: () => new FoldgateError('upstream_broken', 'It broke off.'),
  }
  const timing = { attempts: 2, firstSentAtMs: 0, firstByteMs: 0 }
  const how = { remedy: 'none', offersRecall: false, asksUsage: false } as const
  return { answer, held: [], verdict: 'good', classification: null, prepared, ...timing, ...how }
}

// A fault in reading back was the request's: a client got Foldgate's own error, or a stream that broke off, where the
// model could have answered without the tool.
test('where reading back fails, the request is answered as if there were no such tool', async () => {
  const prepared = await request()
  const sent: FurtherRequest[] = []
  const failures = createFailures(() => {})
  const further = createFurtherAnswers({
    prepared,
    toolName: RECALL,
    recallRounds: 3,
    continuationsMax: 0,
    roomTokens: 1000,
    count: (text) => text.length,
    send: async (asked) => {
      sent.push(asked)
      return answerTo(asked.prepared)
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
  expect(sent).toEqual([{ prepared, turns: [], offersRecall: false }])
  expect(failures.counts()).toEqual({ recall: 1 })
})
