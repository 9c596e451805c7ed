import type { JoinedReply, Outcome } from '../request.ts'
import { stringifyJson } from '../../conversation/json-value.ts'
import { breathe } from '../../scheduling/drive.ts'
import { madeBody } from '../../upstream/answer-body.ts'
import type { Answer } from '../../upstream/upstreams.ts'
import type { AnswerObserver } from '../observe.ts'
import type { JoinOptions } from './further-answers.ts'
import { parsedBody, readPlain, withoutLength } from './whole-answer.ts'

/** Joins plain answers, further ones as they were read, until the reply is over. What cannot be read goes on as it came. */
export async function joinPlain(
  first: Outcome,
  observer: AnswerObserver,
  { rules, further }: JoinOptions,
): Promise<JoinedReply> {
  const plain = first.form.chat.dialect.replies.plain(rules)
  let outcome = await readPlain(first)
  for (const piece of outcome.held) {
    observer.tap(piece)
    await breathe()
  }
  for (;;) {
    const reply = plain.take(parsedBody(outcome))
    if (reply === null) break
    const next = await further.after(reply)
    if (next.kind === 'refused') return joined(next.outcome)
    if (next.kind === 'end') {
      const body = plain.finish()
      const text = body === null ? null : stringifyJson(body)
      return joined(text === null ? outcome : withBody(outcome, first.answer, text))
    }
    plain.goOn(next.seam)
    outcome = next.outcome
  }
  return joined(outcome)

  function joined(last: Outcome): JoinedReply {
    const { form, remedy, asksUsage, offersRecall, firstByteMs, firstSentAtMs } = first
    const told = { form, remedy, asksUsage, offersRecall, firstByteMs, firstSentAtMs }
    // Made now: while the answer is delivered, nothing of the request is to be held.
    const total = { ...further.counts(), usage: plain.usage() }
    return {
      outcome: { ...last, ...told },
      isOpen: false,
      observer: { tap: () => {}, end: observer.end },
      total: () => total,
    }
  }
}

// --- internal ---

function withBody(outcome: Outcome, { rawHeaders, status, statusText }: Answer, text: string): Outcome {
  const body = madeBody([Buffer.from(text)])
  const headers = { rawHeaders: withoutLength(rawHeaders), status, statusText }
  const { facts: _facts, ...others } = outcome
  return { ...others, answer: { ...outcome.answer, ...headers, body }, held: [] }
}
