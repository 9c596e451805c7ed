import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, stringOr } from '../../src/json/json-value.ts'
import type { CallRules, Replies, StreamEvent } from '../../src/formats/answer-contract.ts'
import { messages as messagesDialect } from '../../src/formats/messages/messages.ts'
import { responses as responsesDialect } from '../../src/formats/responses/responses.ts'
import { nextStep } from '../../src/pipeline/reply/further-answers.ts'
import { propertyRuns } from '../support/property-runs.ts'
import { eventsIn, joiningOf } from './joined.ts'
import { chatCompletions } from '../../src/formats/chat/chat.ts'
import * as deltas from './chat/reply/streamed.ts'
import * as blocks from './messages/reply/streamed.ts'
import * as items from './responses/reply/streamed.ts'

const words = 'The quick brown fox jumps over the lazy dog, and goes home.'
const cited = { citations: [{ type: 'char_location', cited_text: 'x' }] }
const refusal = { content: [{ type: 'refusal', refusal: 'No.' }] }

type Dialect = {
  readonly replies: Replies
  /** What an answer may hold; what it says tells of which answer, and where it stands in it. */
  readonly makers: Readonly<Record<string, (place: string) => readonly JsonObject[]>>
  /** An answer, plain and streamed. */
  readonly answer: (
    parts: readonly JsonObject[],
    about: About,
  ) => { body: JsonObject; events: readonly StreamEvent[] }
  /** What a strict client makes of a stream. */
  readonly read: (out: readonly (StreamEvent | string)[]) => JsonObject
  readonly partsIn: (body: JsonObject) => readonly JsonObject[]
  /** What a reply says that was cut. */
  readonly cut: object
}

type About = { at: number; isCut: boolean; tokens: number | null; pieceCharacters: number }

const piecesOf = (text: string, characters: number) =>
  text.match(new RegExp(`[^]{1,${characters}}`, 'g')) ?? []

const chatCall = (name: string, given: string, id: string): JsonObject => ({
  tool_calls: { id, type: 'function', function: { name, arguments: given } },
})

const chats: Dialect = {
  replies: chatCompletions.replies,
  makers: {
    thought: (place) => [{ reasoning_content: `I think ${place}. ` }],
    text: (place) => [{ content: `${words} ${place}` }],
    silence: () => [{ content: '' }],
    recall: (place) => [chatCall('recall', '{"search":"x"}', `call_${place}`)],
    call: (place) => [chatCall('recall_mail', '{"a":1}', `call_${place}`)],
    cutCall: (place) => [chatCall('bash', '{"a":', `call_${place}`)],
  },
  answer: (parts, { at, isCut, tokens, pieceCharacters }) => {
    const said = (key: string) => parts.map((part) => stringOr(part[key], '')).join('')
    const [content, thought] = [said('content'), said('reasoning_content')]
    const calls = parts.flatMap(({ tool_calls: call }) => (isJsonObject(call) ? [call] : []))
    const id = `chatcmpl-${at}`
    const reason = isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'
    const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens, completion_tokens: 1 } }
    const message = {
      role: 'assistant',
      content,
      ...(thought === '' ? {} : { reasoning_content: thought }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    }
    const pieces = calls.flatMap((call, index) => {
      const { name, arguments: given } = Object(call['function'])
      const begun = { index, ...call, function: { name, arguments: '' } }
      const grown = piecesOf(given, pieceCharacters).map((piece) => ({
        index,
        function: { arguments: piece },
      }))
      return [begun, ...grown].map((delta) => ({ tool_calls: [delta] }))
    })
    const texts = piecesOf(content, pieceCharacters).map((piece) => ({ content: piece }))
    const thoughts = piecesOf(thought, pieceCharacters).map((piece) => ({ reasoning_content: piece }))
    const begun = { role: 'assistant', content: '' }
    return {
      body: {
        id,
        object: 'chat.completion',
        created: id.length,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: reason }],
        ...usage,
      },
      events: deltas.eventsOf([begun, ...thoughts, ...texts, ...pieces], { id, reason, ...usage }),
    }
  },
  read: (out) => {
    const { text, reasoning, calls, reasons, ids, roles, usage, done } = deltas.readAsClient(out)
    const [[id], [reason]] = [[...ids], reasons]
    expect([ids.size, reasons.length, roles, done]).toEqual([1, 1, 1, 1])
    const made = calls.map(({ id: callId, ...call }) => ({ id: callId, type: 'function', function: call }))
    const message = {
      role: 'assistant',
      content: text,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(made.length === 0 ? {} : { tool_calls: made }),
    }
    return {
      id,
      object: 'chat.completion',
      created: String(id).length,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: reason }],
      ...(usage === null ? {} : { usage }),
    }
  },
  partsIn: ({ choices }) =>
    objectsIn(choices).flatMap(({ message }) => objectsIn(Object(message).tool_calls)),
  cut: { choices: [{ finish_reason: 'length' }] },
}

const messages: Dialect = {
  replies: messagesDialect.replies,
  makers: {
    thought: (place) => [blocks.thought(`I think ${place}`)],
    secret: (place) => [{ type: 'redacted_thinking', data: `secret ${place}` }],
    text: (place) => [blocks.text(`${words} ${place}`)],
    cited: (place) => [blocks.text(`${words} ${place}`, cited)],
    silence: () => [blocks.text('')],
    recall: (place) => [blocks.callOf('recall', { search: 'x' }, `toolu_${place}`)],
    call: (place) => [blocks.callOf('bash', { a: 1 }, `toolu_${place}`)],
    search: (place) => blocks.search(`srvtoolu_${place}`),
  },
  answer: (content, { at, isCut, tokens, pieceCharacters }) => {
    const about = {
      id: `msg_${at}`,
      ...(isCut ? { reason: 'max_tokens' } : {}),
      usage: { input_tokens: tokens ?? 0, cache_read_input_tokens: 3, output_tokens: 1 },
    }
    return {
      body: blocks.messageOf(content, about),
      events: blocks.streamOf(content, about, pieceCharacters),
    }
  },
  read: blocks.readStrictly,
  partsIn: ({ content }) => objectsIn(content),
  cut: { stop_reason: 'max_tokens' },
}

const responses: Dialect = {
  replies: responsesDialect.replies,
  makers: {
    thought: (place) => [items.thought(`rs_${place}`)],
    message: (place) => [items.message(`${words} ${place}`, `msg_${place}`)],
    silence: (place) => [items.message('', `msg_${place}`)],
    refusal: (place) => [items.message('', `msg_${place}`, refusal)],
    recall: (place) => [items.callOf('recall', '{"search":"x"}', `fc_${place}`)],
    call: (place) => [items.callOf('bash', '{"a":1}', `fc_${place}`)],
    cutCall: (place) => [items.callOf('bash', '{"a":', `fc_${place}`)],
    search: (place) => [items.search(`ws_${place}`)],
  },
  answer: (output, { at, isCut, tokens, pieceCharacters }) => {
    const about = {
      id: `resp_${at}`,
      ...(isCut ? { reason: 'max_output_tokens' } : {}),
      ...(tokens === null ? {} : { usage: { input_tokens: tokens, output_tokens: 1 } }),
    }
    // A response in which there is nothing to show has no stream that says the same: one event is left out again.
    const whole = items.streamOf([...output, items.search('ws_last')], about, pieceCharacters)
    const body = items.responseOf(output, about)
    const events = eventsIn(whole)
      .filter((event) => !JSON.stringify([event['item'], event['item_id']]).includes('ws_last'))
      .map((event) => (isEnd(event) ? { ...event, response: body } : event))
    return { body, events: items.numbered(events) }
  },
  read: items.endOf,
  partsIn: ({ output }) => objectsIn(output),
  cut: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
}

/** The answers of one reply, plain and streamed: no more than it takes until Foldgate does not go on. */
function repliesOf({ replies, makers, answer }: Dialect) {
  const one = fc.record({
    parts: fc.array(fc.constantFrom(...Object.values(makers)), { minLength: 1, maxLength: 6 }),
    isCut: fc.boolean(),
    tokens: fc.option(fc.nat({ max: 99 })),
  })
  return fc
    .record({
      answers: fc.array(one, { minLength: 1, maxLength: 4 }),
      toolName: fc.constantFrom('recall', null),
      continues: fc.boolean(),
      pieceCharacters: fc.integer({ min: 1, max: 20 }),
    })
    .map(({ answers, pieceCharacters, ...rules }) => {
      const all = answers.map(({ parts, isCut, tokens }, at) => {
        const made = parts.flatMap((make, place) => make(`a${at}p${place}`))
        return answer(made, { at, isCut, tokens, pieceCharacters })
      })
      const limits = { ...rules, recallsLeft: 5, continuationsLeft: rules.continues ? 5 : 0 }
      const last = all.findIndex(({ body }) => {
        const reply = replies.read(body)
        return reply === null || nextStep(reply, limits).kind === 'end'
      })
      const taken = last === -1 ? all : all.slice(0, last + 1)
      return { rules, bodies: taken.map(({ body }) => body), streams: taken.map(({ events }) => events) }
    })
}

describe.each([
  { name: 'chat completions', dialect: chats },
  { name: 'messages', dialect: messages },
  { name: 'responses', dialect: responses },
])('$name', ({ dialect }) => {
  const { joinedBodies, joinedStreams, brokenOff } = joiningOf(dialect.replies)
  const replies = repliesOf(dialect)

  test('a streamed reply and a plain one of the same answers are the same, and one that stays passes as it came', () => {
    fc.assert(
      fc.property(replies, ({ rules, bodies, streams }) => {
        const plain = joinedBodies(bodies, rules)
        const streamed = joinedStreams(streams, rules)
        expect(dialect.read(streamed.out)).toEqual(plain.body ?? bodies.at(-1))
        expect(streamed.usage).toEqual(plain.usage)
        expect(streamed.replies).toEqual(plain.replies)
        const [events = []] = streams
        const { out } = streamed
        const isSame = out.length === events.length && out.every((event, at) => event === events[at])
        expect(isSame).toBe(plain.body === null)
        if (rules.toolName === null) return
        const shown = dialect.partsIn(dialect.read(out))
        const names = shown.map(({ name, function: called }) => name ?? Object(called).name)
        expect(names).not.toContain('recall')
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  test('a further answer may break off anywhere: the client gets a whole reply, which was cut', async () => {
    await fc.assert(
      fc.asyncProperty(replies, fc.nat(), async ({ bodies, streams }, at) => {
        fc.pre(streams.length > 1)
        const rules: CallRules = { toolName: 'recall', continues: true }
        const last = streams.at(-1) ?? []
        const { out, end } = brokenOff(
          [...streams.slice(0, -1), last.slice(0, at % (last.length + 1))],
          rules,
        )
        const reply = dialect.read([...out, ...end])
        expect(reply['id']).toBe(bodies[0]?.['id'])
        if (end.length > 1) expect(reply).toMatchObject(dialect.cut)
        if (dialect === responses) await expectReadable([...out, ...end])
      }),
      { numRuns: propertyRuns(75) },
    )
  })
})

test.each([messages, responses])(
  'an error in the middle of a stream is an event of that name, with all that was said',
  ({ replies }) => {
    const [error, bare] = [
      { code: 'server_error', message: 'gone' },
      { object: 'error', type: 'X' },
    ]
    const told = replies.errorEvent({ error, request_id: 'req_1' })
    expect(told).toMatch(/^event: error\ndata: .*\n\n$/)
    const events = eventsIn([told, replies.errorEvent(bare)])
    expect(events).toEqual([
      { type: 'error', error, request_id: 'req_1' },
      { type: 'error', error: bare },
    ])
  },
)

test('of messages the client gets no empty text of ours, and thoughts only if it sends back all that stood before', () => {
  const { joinedStreams } = joiningOf(messagesDialect.replies)
  fc.assert(
    fc.property(repliesOf(messages), ({ rules, bodies, streams }) => {
      const content = messages.partsIn(messages.read(joinedStreams(streams, rules).out))
      const [first = []] = bodies.map(messages.partsIn)
      const bound = first.findIndex(({ name }) => rules.toolName !== null && name === 'recall')
      const known = bound === -1 ? first : first.slice(0, bound)
      expect(content.filter(isThought)).toEqual(known.filter(isThought))
      expect(content.filter(isEmpty).length).toBeLessThanOrEqual(first.filter(isEmpty).length)
    }),
    { numRuns: propertyRuns(200) },
  )
})

/** What a server demands of what the client will send back: see `reply.ts` of the dialect. */
test('of responses the client gets thoughts only with what they led to, if it sends back all that stood before', async () => {
  const { joinedStreams } = joiningOf(responsesDialect.replies)
  await fc.assert(
    fc.asyncProperty(repliesOf(responses), fc.nat(3), async ({ rules, bodies, streams }, sample) => {
      const { out } = joinedStreams(streams, rules)
      const output = responses.partsIn(responses.read(out))
      if (sample === 0) await expectReadable(out)
      const shown = new Set(output.map((item) => item['id']))
      expect(shown.size).toBe(output.length)
      const [first = [], ...further] = bodies.map(responses.partsIn)
      expect(further.flat().filter((item) => shown.has(item['id']))).toEqual([])
      // Behind the first call of ours that has thoughts behind it, nothing is known to the server by its id.
      const isOurs = ({ name }: JsonObject) => rules.toolName !== null && name === 'recall'
      const recall = first.findIndex(isOurs)
      const bound =
        recall === -1 ? -1 : first.findIndex(({ type }, at) => at > recall && type === 'reasoning')
      if (bound !== -1) expect(first.slice(bound).filter((item) => shown.has(item['id']))).toEqual([])
      for (const [at, item] of output.entries()) {
        if (item['type'] !== 'reasoning') continue
        const behind = first.slice(first.findIndex(({ id }) => id === item['id']) + 1)
        const led = behind.find((each) => each['type'] !== 'reasoning' && !isOurs(each))
        const next = output.slice(at + 1).find(({ type }) => type !== 'reasoning')
        // What led to nothing, or to a call that was cut, has what comes next behind it.
        const isOver = led === undefined || (further.length > 0 && led === first.at(-1))
        if (!isOver) expect(next?.['id']).toBe(led['id'])
      }
    }),
    { numRuns: propertyRuns(200) },
  )
})

/** Numbers and places follow each other, all texts come in pieces, and OpenAI’s own library reads it event by event. */
async function expectReadable(out: readonly (StreamEvent | string)[]): Promise<void> {
  const events = eventsIn(out)
  expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, at) => at))
  const added = events.filter(({ type }) => type === 'response.output_item.added')
  expect(added.map((event) => event['output_index'])).toEqual(added.map((_, at) => at))
  const output = responses.partsIn(items.endOf(out))
  const texts = output.flatMap((item) => {
    const text = JSON.stringify(item['content'] ?? '').match(/"text":("(?:[^"\\]|\\.)*")/)?.[1] ?? '""'
    return text === '""' ? [] : [[item['id'], JSON.parse(text)]]
  })
  expect(items.textsIn(out)).toEqual(Object.fromEntries(texts))
  expect((await items.readBySdk(out))['output']).toMatchObject(output)
}

function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

function isEnd({ type }: JsonObject): boolean {
  return type === 'response.completed' || type === 'response.incomplete'
}

const isThought = ({ type }: JsonObject): boolean => type === 'thinking' || type === 'redacted_thinking'

const isEmpty = (block: JsonObject): boolean => block['text'] === ''
