import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/json/json-value.ts'
import type { CallRules, StreamEvent } from '../../src/formats/answer-contract.ts'
import { nextStep } from '../../src/pipeline/reply/further-answers.ts'
import { paragraphSeam } from '../../src/pipeline/reply/seams.ts'
import { forAll, forAllAsync } from '../support/property-runs.ts'
import { continuing, eventsIn, joiningOf, recalling } from './joined.ts'
import { chats, messages, ollama, responses, type ReplyDialect } from './reply-dialects.ts'
import * as items from './responses/reply/streamed.ts'

type About = { readonly isCut?: boolean; readonly isSecond?: boolean; readonly tokens?: number }

describe.each([chats, messages, responses, ollama])('in $name', (dialect) => {
  const { text, thought, call, replies, textsIn, callsEnd } = dialect
  const { joinedBodies, joinedStreams, brokenOff } = joiningOf(replies)

  function stream(parts: readonly JsonObject[], about: About = {}) {
    const { isCut = false, isSecond = false, tokens = 1 } = about
    const [at, whole] = [isSecond ? 1 : 0, { cachedTokens: 0, pieceCharacters: 100 }]
    return dialect.answer([thought(`of ${at}`), ...parts], { at, isCut, tokens, ...whole }).events
  }

  function seen(out: readonly (StreamEvent | string)[]) {
    const body = dialect.read(out)
    const { calls = [], finish = null } = replies.read(body) ?? {}
    const { prompt_tokens: prompt, input_tokens: input = prompt } = Object(body['usage'])
    const { id = '0', prompt_eval_count: tokens = input } = body
    return {
      isFirst: String(id).endsWith('0'),
      texts: textsIn(body),
      calls: calls.map(({ name, argumentsText }) => [name, JSON.parse(argumentsText)]),
      end: finish,
      tokens,
    }
  }

  const told = 'It was a dark and stormy night, and the rain fell in torrents, except at'
  const asking = stream([text('Let me look.'), call('recall', '{"search":"x"}')], { tokens: 10 })
  const cut = stream([text(told)], { isCut: true })

  test('a call of ours leaves no sign: one answer, with the usage of both; it is read whole', () => {
    const answering = stream([text('It is 42.'), call('bash', '{"a":1}')], { isSecond: true, tokens: 20 })
    const { out, usage, replies: read } = joinedStreams([asking, answering], recalling)
    const { texts, ...others } = seen(out)
    expect(texts.join('')).toBe('Let me look.\n\nIt is 42.')
    expect(others).toEqual({ isFirst: true, calls: [['bash', { a: 1 }]], end: callsEnd, tokens: 30 })
    expect(usage?.promptTokens).toBe(30)
    expect(JSON.stringify(out)).not.toMatch(/recall|second/)
    const asked = { name: 'recall', argumentsText: '{"search":"x"}', isIncomplete: false }
    expect(read[0]).toMatchObject({ text: 'Let me look.', calls: [asked] })
  })

  test('text before it is there before the call is known', () => {
    const reading = replies.join<StreamEvent>(recalling)
    const shown = asking.flatMap((event) => reading.take(event))
    expect(shown).toEqual(asking.slice(0, shown.length))
    expect(JSON.stringify(shown)).toContain('Let me look.')
  })

  test('one that is not answered any more ends the reply as if it had not been made', () => {
    const { out } = joinedStreams([asking], recalling)
    expect(seen(out)).toMatchObject({ texts: ['Let me look.'], calls: [], end: 'end' })
  })

  test('one beside those of the client leaves them in their places', () => {
    const mixed = stream([call('bash', '{"a":1}'), call('recall'), call('read', '{"b":2}')])
    const calls = [
      ['bash', { a: 1 }],
      ['read', { b: 2 }],
    ]
    expect(seen(joinedStreams([mixed], recalling).out)).toMatchObject({ calls, end: callsEnd })
  })

  test('a text that was cut goes on where it was cut', () => {
    const rest = stream([text(`${told} intervals.`), call('bash')], { isSecond: true })
    const { out, replies: read } = joinedStreams([cut, rest], continuing)
    const whole = { texts: [`${told} intervals.`], calls: [['bash', {}]], end: callsEnd }
    expect(seen(out)).toEqual({ isFirst: true, tokens: 2, ...whole })
    expect(read.map((reply) => reply?.text)).toEqual([told, ' intervals.'])
  })

  test('one that is not gone on with ends before what follows it', () => {
    const { out } = joinedStreams([cut, stream([call('bash')], { isSecond: true })], continuing)
    expect(seen(out)).toMatchObject({ texts: [told], calls: [['bash', {}]], end: callsEnd })
  })

  test('a call that was cut is asked for again, and made once', () => {
    const begun = stream([text('I write.'), call('write', '{"text":"ab')], { isCut: true })
    const again = stream([call('write', '{"text":"a"}', 'again')], { isSecond: true })
    const { out, replies: read } = joinedStreams([begun, again], continuing)
    const cutCalls = dialect.cutsCalls ? [{ name: 'write', isIncomplete: true }] : []
    expect(read[0]?.calls).toMatchObject(cutCalls)
    expect(seen(out)).toMatchObject({ texts: ['I write.'], calls: [['write', { text: 'a' }]] })
  })

  test('a call that was cut is left out if another is complete, which is complete then', () => {
    const mixed = stream([call('read', '{"a":1}'), call('write', '{"text":"ab')], { isCut: true })
    // Where no cut call comes, nothing is left out, and the answer passes as it came.
    const end = dialect.cutsCalls ? callsEnd : 'length'
    const { out } = joinedStreams([mixed], continuing)
    expect(seen(out)).toMatchObject({ calls: [['read', { a: 1 }]], end })
  })

  test('of an answer that did not begin nothing can be said', () => {
    const silent = replies.join<StreamEvent>(continuing)
    silent.goOn(paragraphSeam(''))
    expect(silent.cut()).toBeNull()
  })

  test('what is no plain answer, or a failed one, is not gone on from', () => {
    const plain = replies.join(continuing)
    for (const none of [undefined, null, 'x', [], {}, { choices: [] }, { error: {} }, dialect.failed]) {
      expect(plain.takePlain(none)).toBeNull()
      expect(plain.finishPlain()).toBeNull()
    }
  })

  // A call that says `"done": true` was taken for the last line of Ollama's stream, since it was looked up in the text: the
  // rest of the reply was cut off a quarter of a second later. To JavaScript U+2028 ends a line; in a stream it does not.
  test('the last word of a stream is its end, whatever a text or a call in it says', () => {
    const ends = ['message_stop', 'response.completed'].map((type) => `event: ${type} {"type":"${type}"}`)
    const lines = ['', ...ends.map((end) => end.split(' {')[0]), 'data: [DONE]', ''].join('\u2028')
    const said = text(`${ends.join(' ')} [DONE] event: error${lines}`)
    for (const isCut of [false, true]) {
      const events = stream([said, call('bash', '{"type":"error","done":true}')], { isCut }).map(
        (event) => event.text,
      )
      for (const spelt of [events, events.map((event) => event.replace(/^event: .*\n/, ''))])
        expect(spelt.filter((event) => replies.isDone(event))).toEqual(spelt.slice(-1))
    }
    for (const last of dialect.lastWords) expect(replies.isDone(last)).toBe(true)
  })

  const answers = repliesOf(dialect)

  test('a streamed reply and a plain one of the same answers are the same, and one that stays passes as it came', () => {
    forAll(300, answers, ({ rules, bodies, streams }) => {
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
    })
  })

  test('a further answer may break off anywhere: the client gets a whole reply, which was cut', async () => {
    await forAllAsync(75, answers, fc.nat(), async ({ bodies, streams }, at) => {
      fc.pre(streams.length > 1)
      const rules: CallRules = { toolName: 'recall', continues: true }
      const last = streams.at(-1) ?? []
      const { out, end } = brokenOff([...streams.slice(0, -1), last.slice(0, at % (last.length + 1))], rules)
      const reply = dialect.read([...out, ...end])
      expect(reply['id']).toBe(bodies[0]?.['id'])
      if (end.length > 1) expect(reply).toMatchObject(dialect.cut)
      if (dialect === responses) await expectReadable([...out, ...end])
    })
  })
})

/** The answers of one reply, plain and streamed: no more than it takes until Foldgate does not go on. */
function repliesOf({ replies, makers, text, thought, call, answer }: ReplyDialect) {
  const common: ReplyDialect['makers'] = {
    thought: (place) => [thought(place)],
    text: (place) => [text(`The quick brown fox jumps over the lazy dog, and goes home. ${place}`, place)],
    silence: (place) => [text('', place)],
    recall: (place) => [call('recall', '{"search":"x"}', place)],
    call: (place) => [call('recall_mail', '{"a":1}', place)],
    cutCall: (place) => [call('bash', '{"a":', place)],
  }
  const one = fc.record({
    parts: fc.array(fc.constantFrom(...Object.values({ ...common, ...makers })), {
      minLength: 1,
      maxLength: 6,
    }),
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
        return answer(made, { at, isCut, tokens, cachedTokens: 3, pieceCharacters })
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
  const { joinedStreams } = joiningOf(messages.replies)
  forAll(200, repliesOf(messages), ({ rules, bodies, streams }) => {
    const content = messages.partsIn(messages.read(joinedStreams(streams, rules).out))
    const [first = []] = bodies.map(messages.partsIn)
    const bound = first.findIndex(({ name }) => rules.toolName !== null && name === 'recall')
    const known = bound === -1 ? first : first.slice(0, bound)
    expect(content.filter(isThought)).toEqual(known.filter(isThought))
    expect(content.filter(isEmpty).length).toBeLessThanOrEqual(first.filter(isEmpty).length)
  })
})

/** What a server demands of what the client will send back: see `reply.ts` of the dialect. */
test('of responses the client gets thoughts only with what they led to, if it sends back all that stood before', async () => {
  const { joinedStreams } = joiningOf(responses.replies)
  await forAllAsync(200, repliesOf(responses), fc.nat(3), async ({ rules, bodies, streams }, sample) => {
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
    const bound = recall === -1 ? -1 : first.findIndex(({ type }, at) => at > recall && type === 'reasoning')
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
  })
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

const isThought = ({ type }: JsonObject): boolean => type === 'thinking' || type === 'redacted_thinking'

const isEmpty = (block: JsonObject): boolean => block['text'] === ''
