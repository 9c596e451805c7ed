import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../../../src/conversation/json-value.ts'
import type { StreamEvent } from '../../../../src/dialects/answer-contract.ts'
import { readResponseReply } from '../../../../src/dialects/responses/reply/reply.ts'
import { nextStep } from '../../../../src/request/reply/next-step.ts'
import { brokenOff, joinedBodies, joinedStreams } from './joined.ts'
import {
  callOf,
  endOf,
  eventsIn,
  message,
  readBySdk,
  responseOf,
  search,
  streamOf,
  textsIn,
  thought,
} from './streamed.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const words = 'The quick brown fox jumps over the lazy dog, and goes home.'

/** An item of an answer; its id tells of which answer, and where it stands in it. */
const makers = {
  thought: (place: string) => thought(`rs_${place}`),
  message: (place: string) => message(`${words} ${place}`, `msg_${place}`),
  silence: (place: string) => message('', `msg_${place}`),
  refusal: (place: string) => message('', `msg_${place}`, { content: [{ type: 'refusal', refusal: 'No.' }] }),
  recall: (place: string) => callOf('recall', '{"search":"x"}', `fc_${place}`),
  call: (place: string) => callOf('bash', '{"a":1}', `fc_${place}`),
  cutCall: (place: string) => callOf('bash', '{"a":', `fc_${place}`),
  search: (place: string) => search(`ws_${place}`),
}

const answer = fc.record({
  items: fc.array(fc.constantFrom(...Object.values(makers)), { minLength: 1, maxLength: 6 }),
  isCut: fc.boolean(),
  tokens: fc.option(fc.nat({ max: 99 })),
})

/** The answers of one reply, plain and streamed: no more than it takes until Foldgate does not go on. */
const replies = fc
  .record({
    answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
    toolName: fc.constantFrom('recall', null),
    continues: fc.boolean(),
    pieceCharacters: fc.integer({ min: 1, max: 20 }),
  })
  .map(({ answers, pieceCharacters, ...rules }) => {
    const all = answers.map(({ items, isCut, tokens }, at) => {
      const output = items.map((make, place) => make(`a${at}p${place}`))
      const about = {
        id: `resp_${at}`,
        ...(isCut ? { reason: 'max_output_tokens' } : {}),
        ...(tokens === null ? {} : { usage: { input_tokens: tokens, output_tokens: 1 } }),
      }
      // A response in which there is nothing to show has no stream that says the same: one event is left out again.
      const whole = streamOf([...output, search('ws_last')], about, pieceCharacters)
      const body = responseOf(output, about)
      const events = eventsIn(whole)
        .filter((event) => !JSON.stringify([event['item'], event['item_id']]).includes('ws_last'))
        .map((event) => (isEnd(event) ? { ...event, response: body } : event))
      return { body, events: events.map(numberedEvent) }
    })
    const limits = { ...rules, recallsLeft: 5, continuationsLeft: rules.continues ? 5 : 0 }
    const last = all.findIndex(({ body }) => {
      const reply = readResponseReply(body)
      return reply === null || nextStep(reply, limits).kind === 'end'
    })
    const taken = last === -1 ? all : all.slice(0, last + 1)
    return { rules, bodies: taken.map(({ body }) => body), streams: taken.map(({ events }) => events) }
  })

const outputIn = (response: JsonObject): JsonObject[] => {
  const { output } = response
  return Array.isArray(output) ? output.filter(isJsonObject) : []
}

test('a streamed reply and a plain one of the same answers are the same response', () => {
  fc.assert(
    fc.property(replies, ({ rules, bodies, streams }) => {
      const plain = joinedBodies(bodies, rules)
      const streamed = joinedStreams(streams, rules)
      expect(endOf(streamed.out)).toEqual(plain.body ?? bodies.at(-1))
      expect(streamed.usage).toEqual(plain.usage)
      expect(streamed.replies).toEqual(plain.replies)
    }),
    { numRuns: propertyRuns(200) },
  )
})

test('numbers and places follow each other, and all texts come in pieces', () => {
  fc.assert(
    fc.property(replies, ({ rules, streams }) => {
      const { out } = joinedStreams(streams, rules)
      const events = eventsIn(out)
      expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, at) => at))
      const added = events.filter(({ type }) => type === 'response.output_item.added')
      expect(added.map((event) => event['output_index'])).toEqual(added.map((_, at) => at))
      const output = outputIn(endOf(out))
      const texts = output.flatMap((item) => {
        const text = JSON.stringify(item['content'] ?? '').match(/"text":("(?:[^"\\]|\\.)*")/)?.[1] ?? '""'
        return text === '""' ? [] : [[item['id'], JSON.parse(text)]]
      })
      expect(textsIn(out)).toEqual(Object.fromEntries(texts))
    }),
    { numRuns: propertyRuns(200) },
  )
})

test('OpenAI’s own library reads it event by event', async () => {
  await fc.assert(
    fc.asyncProperty(replies, async ({ rules, streams }) => {
      const { out } = joinedStreams(streams, rules)
      const { output } = await readBySdk(out)
      expect(output).toMatchObject(outputIn(endOf(out)))
    }),
    { numRuns: propertyRuns(50) },
  )
})

test('an answer in which nothing has to change is passed on as it came, and only then', () => {
  fc.assert(
    fc.property(replies, ({ rules, bodies, streams }) => {
      const { out } = joinedStreams(streams, rules)
      const isSame = joinedBodies(bodies, rules).body === null
      const [events = []] = streams
      expect(out.length === events.length && out.every((event, at) => event === events[at])).toBe(isSame)
    }),
    { numRuns: propertyRuns(200) },
  )
})

/** What a server demands of what the client will send back: see `item-gate.ts`. */
test('the client gets no call of ours, and thoughts only with what they led to, if it sends back all that stood before', () => {
  fc.assert(
    fc.property(replies, ({ rules, bodies, streams }) => {
      const output = outputIn(endOf(joinedStreams(streams, rules).out))
      const shown = new Set(output.map((item) => item['id']))
      expect(shown.size).toBe(output.length)
      if (rules.toolName !== null) expect(output.filter(({ name }) => name === 'recall')).toEqual([])
      const [first = [], ...further] = bodies.map(outputIn)
      const hidden = further.flat().filter((item) => shown.has(item['id']))
      expect(hidden).toEqual([])
      // Behind the first call of ours that has thoughts behind it, nothing is known to the server by its id.
      const recall = first.findIndex(({ name }) => rules.toolName !== null && name === 'recall')
      const bound =
        recall === -1 ? -1 : first.findIndex(({ type }, at) => at > recall && type === 'reasoning')
      if (bound !== -1) expect(first.slice(bound).filter((item) => shown.has(item['id']))).toEqual([])
      for (const [at, item] of output.entries()) {
        if (item['type'] !== 'reasoning') continue
        const led = first
          .slice(first.findIndex(({ id }) => id === item['id']) + 1)
          .find(({ type, name }) => type !== 'reasoning' && (rules.toolName === null || name !== 'recall'))
        const next = output.slice(at + 1).find(({ type }) => type !== 'reasoning')
        // What led to nothing, or to a call that was cut, has what comes next behind it.
        const isOver = led === undefined || (further.length > 0 && led === first.at(-1))
        if (!isOver) expect(next?.['id']).toBe(led['id'])
      }
    }),
    { numRuns: propertyRuns(200) },
  )
})

test('a further answer may break off anywhere: the client gets a whole response', async () => {
  await fc.assert(
    fc.asyncProperty(replies, fc.nat(), async ({ bodies, streams }, at) => {
      fc.pre(streams.length > 1)
      const rules = { toolName: 'recall', continues: true }
      const last = streams.at(-1) ?? []
      const { out, end } = brokenOff([...streams.slice(0, -1), last.slice(0, at % (last.length + 1))], rules)
      const events = eventsIn([...out, ...end])
      expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index))
      expect(endOf([...out, ...end])['id']).toBe(bodies[0]?.['id'])
      await readBySdk([...out, ...end])
    }),
    { numRuns: propertyRuns(50) },
  )
})

// --- internal ---

function isEnd({ type }: JsonObject): boolean {
  return type === 'response.completed' || type === 'response.incomplete'
}

function numberedEvent(event: JsonObject, at: number): StreamEvent {
  return {
    text: `event: ${String(event['type'])}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`,
  }
}
