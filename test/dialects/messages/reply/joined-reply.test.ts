import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../../../src/conversation/json-value.ts'
import { readMessageReply } from '../../../../src/dialects/messages/reply/reply.ts'
import { nextStep } from '../../../../src/request/reply/next-step.ts'
import { brokenOff, joinedBodies, joinedStreams } from './joined.ts'
import { callOf, messageOf, readStrictly, search, streamOf, text, thought } from './streamed.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const words = 'The quick brown fox jumps over the lazy dog, and goes home.'
const cited = { citations: [{ type: 'char_location', cited_text: 'x' }] }

/** Blocks of an answer; what they say tells of which answer, and where they stand in it. */
const makers = {
  thought: (place: string) => [thought(`I think ${place}`)],
  secret: (place: string) => [{ type: 'redacted_thinking', data: `secret ${place}` }],
  text: (place: string) => [text(`${words} ${place}`)],
  cited: (place: string) => [text(`${words} ${place}`, cited)],
  silence: () => [text('')],
  recall: (place: string) => [callOf('recall', { search: 'x' }, `toolu_${place}`)],
  call: (place: string) => [callOf('bash', { a: 1 }, `toolu_${place}`)],
  search: (place: string) => search(`srvtoolu_${place}`),
}

const answer = fc.record({
  blocks: fc.array(fc.constantFrom(...Object.values(makers)), { minLength: 1, maxLength: 6 }),
  isCut: fc.boolean(),
  tokens: fc.nat({ max: 99 }),
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
    const all = answers.map(({ blocks, isCut, tokens }, at) => {
      const content = blocks.flatMap((make, place) => make(`a${at}p${place}`))
      const about = {
        id: `msg_${at}`,
        ...(isCut ? { reason: 'max_tokens' } : {}),
        usage: { input_tokens: tokens, cache_read_input_tokens: 3, output_tokens: 1 },
      }
      return { body: messageOf(content, about), events: streamOf(content, about, pieceCharacters) }
    })
    const limits = { ...rules, recallsLeft: 5, continuationsLeft: rules.continues ? 5 : 0 }
    const last = all.findIndex(({ body }) => {
      const reply = readMessageReply(body)
      return reply === null || nextStep(reply, limits).kind === 'end'
    })
    const taken = last === -1 ? all : all.slice(0, last + 1)
    return { rules, bodies: taken.map(({ body }) => body), streams: taken.map(({ events }) => events) }
  })

const contentIn = ({ content }: JsonObject): JsonObject[] =>
  Array.isArray(content) ? content.filter(isJsonObject) : []

test('a streamed reply and a plain one of the same answers are the same message', () => {
  fc.assert(
    fc.property(replies, ({ rules, bodies, streams }) => {
      const plain = joinedBodies(bodies, rules)
      const streamed = joinedStreams(streams, rules)
      expect(readStrictly(streamed.out)).toEqual(plain.body ?? bodies.at(-1))
      expect(streamed.usage).toEqual(plain.usage)
      expect(streamed.replies).toEqual(plain.replies)
    }),
    { numRuns: propertyRuns(300) },
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

test('the client gets no call of ours, no empty text of ours, and thoughts only if it sends back all that stood before', () => {
  fc.assert(
    fc.property(replies, ({ rules, bodies, streams }) => {
      const content = contentIn(readStrictly(joinedStreams(streams, rules).out))
      if (rules.toolName !== null) expect(content.filter(({ name }) => name === 'recall')).toEqual([])
      const [first = []] = bodies.map(contentIn)
      const bound = first.findIndex(({ name }) => rules.toolName !== null && name === 'recall')
      const known = bound === -1 ? first : first.slice(0, bound)
      expect(content.filter(isThought)).toEqual(known.filter(isThought))
      expect(content.filter(isEmpty).length).toBeLessThanOrEqual(first.filter(isEmpty).length)
    }),
    { numRuns: propertyRuns(200) },
  )
})

test('a further answer may break off anywhere: the client gets a whole message, which was cut', () => {
  fc.assert(
    fc.property(replies, fc.nat(), ({ bodies, streams }, at) => {
      fc.pre(streams.length > 1)
      const rules = { toolName: 'recall', continues: true }
      const last = streams.at(-1) ?? []
      const { out, end } = brokenOff([...streams.slice(0, -1), last.slice(0, at % (last.length + 1))], rules)
      const message = readStrictly([...out, ...end])
      expect(message['id']).toBe(bodies[0]?.['id'])
      if (end.length > 1) expect(message['stop_reason']).toBe('max_tokens')
    }),
    { numRuns: propertyRuns(100) },
  )
})

// --- internal ---

function isThought({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function isEmpty(block: JsonObject): boolean {
  return block['text'] === ''
}
