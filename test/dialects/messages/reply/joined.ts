import type { JsonObject } from '../../../../src/conversation/json-value.ts'
import type { CallRules, Reply, Seam, StreamEvent } from '../../../../src/dialects/answer-contract.ts'
import { createPlainMessage } from '../../../../src/dialects/messages/reply/plain-reply.ts'
import { createMessageStream } from '../../../../src/dialects/messages/reply/reply-stream.ts'
import { continuationSeam, lastWordsOf, paragraphSeam } from '../../../../src/request/reply/seams.ts'

export const recalling: CallRules = { toolName: 'recall', continues: false }
export const continuing: CallRules = { toolName: 'recall', continues: true }

/** What the client gets of these streams, each going on from the one before. */
export function joinedStreams(answers: readonly (readonly StreamEvent[])[], rules: CallRules) {
  const stream = createMessageStream<StreamEvent>(rules)
  const out: (StreamEvent | string)[] = []
  const replies = answers.map((events, at) => {
    for (const event of events) out.push(...stream.take(event))
    const { reply, shown } = stream.ended()
    out.push(...shown)
    if (at < answers.length - 1) stream.goOn(seamBehind(reply))
    return reply
  })
  out.push(...stream.finish())
  return { out, replies, usage: stream.usage() }
}

/** What the client gets of these plain messages; null if that is the one that came. */
export function joinedBodies(answers: readonly JsonObject[], rules: CallRules) {
  const plain = createPlainMessage(rules)
  const replies = answers.map((body, at) => {
    const reply = plain.take(body)
    if (at < answers.length - 1) plain.goOn(seamBehind(reply))
    return reply
  })
  return { body: plain.finish(), replies, usage: plain.usage() }
}

/** The same if the last stream breaks off, and what is sent then. */
export function brokenOff(answers: readonly (readonly StreamEvent[])[], rules: CallRules) {
  const stream = createMessageStream<StreamEvent>(rules)
  const out = answers.flatMap((events, at) => {
    const shown = events.flatMap((event) => stream.take(event))
    if (at === answers.length - 1) return shown
    const { reply, shown: late } = stream.ended()
    stream.goOn(seamBehind(reply))
    return [...shown, ...late]
  })
  return { out, end: stream.cut() ?? [] }
}

// --- internal ---

/** The seam behind a reply, as Foldgate chooses it: behind a text that was cut, or behind a call. */
function seamBehind(reply: Reply | null): Seam {
  const text = reply?.text ?? ''
  const isCut = reply?.finish === 'length' && reply.calls.length === 0
  return isCut ? continuationSeam(text, lastWordsOf(text)) : paragraphSeam(text)
}
