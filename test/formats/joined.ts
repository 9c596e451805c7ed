import { isJsonObject, type JsonObject } from '../../src/json/json-value.ts'
import type { CallRules, Replies, Reply, Seam, StreamEvent } from '../../src/formats/answer-contract.ts'
import { continuationSeam, lastWordsOf, paragraphSeam } from '../../src/pipeline/reply/seams.ts'

export const recalling: CallRules = { toolName: 'recall', continues: false }
export const continuing: CallRules = { toolName: 'recall', continues: true }

type Streams = readonly (readonly StreamEvent[])[]

/** Answers of a dialect that go on from each other, joined as Foldgate joins them. */
export const joiningOf = (replies: Replies) => ({
  /** What the client gets of these streams. */
  joinedStreams: (answers: Streams, rules: CallRules) => {
    const stream = replies.join<StreamEvent>(rules)
    const out: (StreamEvent | string)[] = []
    const read = answers.map((events, at) => {
      for (const event of events) out.push(...stream.take(event))
      const { reply, shown } = stream.ended()
      out.push(...shown)
      if (at < answers.length - 1) out.push(...stream.goOn(seamBehind(reply)))
      return reply
    })
    out.push(...stream.finish())
    return { out, replies: read, usage: stream.usage() }
  },

  /** What the client gets of these plain answers; null if that is the one that came. */
  joinedBodies: (answers: readonly JsonObject[], rules: CallRules) => {
    const plain = replies.join(rules)
    const read = answers.map((body, at) => {
      const reply = plain.takePlain(body)
      if (at < answers.length - 1) plain.goOn(seamBehind(reply))
      return reply
    })
    return { body: plain.finishPlain(), replies: read, usage: plain.usage() }
  },

  /** What the client gets if the last stream breaks off, and what is sent then. */
  brokenOff: (answers: Streams, rules: CallRules) => {
    const stream = replies.join<StreamEvent>(rules)
    const out = answers.flatMap((events, at) => {
      const shown = events.flatMap((event) => stream.take(event))
      if (at === answers.length - 1) return shown
      const { reply, shown: late } = stream.ended()
      return [...shown, ...late, ...stream.goOn(seamBehind(reply))]
    })
    return { out, end: stream.cut() ?? [] }
  },
})

/** The parsed events of a stream, without comments and `[DONE]`. */
export const eventsIn = (events: readonly (StreamEvent | string)[]): readonly JsonObject[] =>
  events
    .map((event) => (typeof event === 'string' ? event : event.text))
    .flatMap((event) => {
      const data = /(?:^|\n)data: ?([^\n]*)/.exec(event)?.[1]
      const json: unknown = data === undefined || data === '[DONE]' ? null : JSON.parse(data)
      return isJsonObject(json) ? [json] : []
    })

export const eventOf = (event: JsonObject): StreamEvent => ({
  text: `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
})

/** The seam behind a reply, as Foldgate chooses it: behind a text that was cut, or behind a call. */
function seamBehind(reply: Reply | null): Seam {
  const text = reply?.text ?? ''
  const isCut = reply?.finish === 'length' && reply.calls.length === 0
  return isCut ? continuationSeam(text, lastWordsOf(text)) : paragraphSeam(text)
}
