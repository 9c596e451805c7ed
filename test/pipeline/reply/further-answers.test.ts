import { expect, test, vi } from 'vitest'
import { createFailures } from '../../../src/telemetry/failures.ts'
import {
  createFurtherAnswers,
  type Further,
  type FurtherRequest,
} from '../../../src/pipeline/reply/further-answers.ts'
import { paragraphSeam } from '../../../src/pipeline/reply/seams.ts'
import { AnswerBody, madeBody } from '../../../src/upstream/answer-body.ts'
import { RECALL, replyOf } from './reply-script.ts'
import { joinStream } from '../../../src/pipeline/reply/reply-to.ts'
import { eventually } from '../../support/eventually.ts'
import { times } from '../../support/times.ts'
import { chatCompletions } from '../../../src/formats/chat/chat.ts'
import type { Form, Outcome } from '../../../src/pipeline/request.ts'
import { createFactsReader } from '../../../src/formats/entry-facts.ts'
import { bodyLimits } from '../../support/body-limits.ts'
import { FoldgateError } from '../../../src/errors.ts'
import { digest, readBytes } from '../../../src/pipeline/read/read-chat.ts'
import { originalForm } from '../../../src/pipeline/compact/forms.ts'

/** A small request as it came. */
async function preparedRequest(): Promise<Form> {
  const bytes = Buffer.from('{"model":"m","messages":[{"role":"user","content":"Hi"}]}')
  const readFacts = createFactsReader(digest, { entriesMax: 10 })
  const chat = await readBytes(chatCompletions, bytes, 'scope', { readFacts, limits: bodyLimits })
  if (typeof chat === 'string') throw new Error(`it cannot be read: ${chat}`)
  return originalForm(chat, 10)
}

/** A good answer to it; `held` was taken from its body before. */
function outcomeOf(form: Form, body: AnswerBody, held: readonly Buffer[] = []): Outcome {
  const answer = {
    status: 200,
    statusText: 'OK',
    rawHeaders: [],
    body,
    address: 'http://upstream',
    failure: () => new FoldgateError('upstream_broken', 'It broke off.'),
    hint: null,
  }
  const timing = { firstByteMs: 0 }
  const how = { remedy: 'none', offersRecall: false, asksUsage: false } as const
  return { answer, held, verdict: 'good', classification: null, form, ...timing, ...how }
}

/** A reply that may read back three times, with what it sends and what fails meanwhile. */
async function recalling(roomTokens: number, answerRecall: () => Promise<string>) {
  const form = await preparedRequest()
  const sent: FurtherRequest[] = []
  const failed: string[] = []
  const further = createFurtherAnswers({
    form,
    limits: { toolName: RECALL, recallsLeft: 3, continuationsLeft: 0 },
    roomTokens,
    count: (text) => text.length,
    send: async (asked) => {
      sent.push(asked)
      return outcomeOf(asked.form, madeBody([]))
    },
    fit: async () => null,
    goesOn: () => true,
    answerRecall,
    failures: createFailures((part) => failed.push(part)),
  })
  return { further, form, sent, failed }
}

// A fault in reading back was the request's: a client got Foldgate's own error, or a stream that broke off, where the
// model could have answered without the tool.
test('where reading back fails, the request is answered as if there were no such tool', async () => {
  const { further, form, sent, failed } = await recalling(1000, async () => {
    throw new TypeError('a fault in reading back')
  })
  const call = { id: 'call_1', type: 'function', function: { name: RECALL, arguments: '{}' } }
  const reply = replyOf({ content: null, tool_calls: [call] }, 'tool_calls')
  expect((await further.after(reply)).kind).toBe('answer')
  expect(sent).toEqual([{ form, turns: [], offersRecall: false }])
  expect(failed).toEqual(['recall'])
})

// More than ten calls without ids in one go shared theirs with those of the next: servers take no id twice.
test('calls without ids get ones that no two of a reply have', async () => {
  const { further, sent } = await recalling(100_000, async () => 'x')
  const call = { type: 'function', function: { name: RECALL, arguments: '{}' } }
  for (const calls of [12, 2])
    await further.after(replyOf({ content: null, tool_calls: times(calls, () => call) }, 'tool_calls'))
  const ids =
    sent
      .at(-1)
      ?.turns.join()
      .match(/"tool_call_id":"[a-z0-9]{9}"/g) ?? []
  expect(ids).toHaveLength(14)
  expect(new Set(ids).size).toBe(14)
})

function event(text: string, finish: string | null): Buffer {
  const choices = [{ index: 0, delta: { content: text }, finish_reason: finish }]
  return Buffer.from(`data: ${JSON.stringify({ object: 'chat.completion.chunk', choices })}\n\n`)
}

/** A body that has come whole from its upstream. */
function wholeBody(...pieces: readonly Buffer[]): AnswerBody {
  const body = new AnswerBody({ pause: () => {}, resume: () => {}, abort: () => {} })
  for (const piece of pieces) body.feed(piece)
  body.finish()
  return body
}

// Its body was destroyed before the further answer came, which nobody then read or gave up.
test('a further answer that comes once the client has left gives its place back', async () => {
  const left = vi.fn<() => void>()
  const furtherBody = wholeBody(event('there.', 'stop'))
  furtherBody.onceOver(left)
  const form = await preparedRequest()
  const outcome = outcomeOf(form, furtherBody, [event('more ', null)])
  const { promise, resolve } = Promise.withResolvers<Further>()
  const after = vi.fn<() => Promise<Further>>(() => promise)
  const joined = joinStream(
    outcomeOf(form, wholeBody(event('Here and ', null), event('', 'length'))),
    { tap: () => {}, end: () => null },
    {
      rules: { toolName: null, continues: true },
      further: { after, counts: () => ({ recalls: 0, continuations: 0 }) },
      failures: { note: () => {} },
    },
  )
  const { body } = joined.outcome.answer
  body.read({ piece: () => {}, end: () => {}, broken: () => {} })
  await eventually(() => expect(after).toHaveBeenCalled())
  body.destroy()
  resolve({ kind: 'answer', outcome, seam: paragraphSeam(''), standsCut: true })
  await eventually(() => expect(left).toHaveBeenCalledTimes(1))
})
