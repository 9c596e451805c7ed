import { expect, test, vi } from 'vitest'
import { joinStream } from '../../../src/request/reply/join-stream.ts'
import type { Further } from '../../../src/request/reply/further-answers.ts'
import { paragraphSeam } from '../../../src/request/reply/seams.ts'
import { AnswerBody } from '../../../src/upstream/answer-body.ts'
import { outcomeOf, preparedRequest } from './made-outcome.ts'
import { eventually } from '../../support/eventually.ts'

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
