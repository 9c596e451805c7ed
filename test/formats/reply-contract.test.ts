import { describe, expect, test } from 'vitest'
import { isJsonObject, type JsonObject } from '../../src/json/json-value.ts'
import type { Replies, StreamEvent } from '../../src/formats/answer-contract.ts'
import { chatCompletions } from '../../src/formats/chat/chat.ts'
import { messages as messagesDialect } from '../../src/formats/messages/messages.ts'
import { responses as responsesDialect } from '../../src/formats/responses/responses.ts'
import { paragraphSeam } from '../../src/pipeline/reply/seams.ts'
import * as deltas from './chat/reply/streamed.ts'
import { continuing, eventsIn, joiningOf, recalling } from './joined.ts'
import * as blocks from './messages/reply/streamed.ts'
import * as items from './responses/reply/streamed.ts'

type Out = readonly (StreamEvent | string)[]

type About = { readonly isCut?: boolean; readonly isSecond?: boolean; readonly tokens?: number }

/** What a client gets, in the words of no dialect. */
type Seen = {
  readonly isFirst: boolean
  readonly texts: readonly string[]
  readonly calls: readonly (readonly [unknown, unknown])[]
  readonly end: unknown
  readonly tokens: unknown
}

/** How a dialect says the same as the others. */
type Words = {
  readonly name: string
  readonly replies: Replies
  readonly text: (words: string) => JsonObject
  readonly call: (name: string, input?: object) => JsonObject
  /** A call whose arguments were cut. */
  readonly cutCall: (name: string) => JsonObject
  readonly stream: (parts: readonly JsonObject[], about?: About) => readonly StreamEvent[]
  readonly seen: (out: Out) => Seen
  /** A plain answer that is none, and what ends a stream beside its own end. */
  readonly failed: unknown
  readonly lastWords: readonly string[]
}

const chats: Words = {
  name: 'chat completions',
  replies: chatCompletions.replies,
  text: (content) => ({ content }),
  call: (name, input = {}) => callDelta(name, JSON.stringify(input)),
  cutCall: (name) => callDelta(name, '{"text":"ab'),
  stream: (parts, { isCut = false, isSecond = false, tokens = 1 } = {}) => {
    const calls = parts.filter((part) => 'tool_calls' in part)
    const placed = parts.map((part) =>
      calls.includes(part)
        ? { tool_calls: [{ index: calls.indexOf(part), ...objectOr(part['tool_calls']) }] }
        : part,
    )
    return deltas.eventsOf([{ role: 'assistant', content: '' }, ...placed], {
      reason: isCut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
      id: isSecond ? 'second' : 'first',
      usage: { prompt_tokens: tokens, completion_tokens: 1 },
    })
  },
  seen: (out) => {
    const { text, calls, reasons, ids, roles, usage, done } = deltas.readAsClient(out)
    expect([reasons.length, ids.size, roles, done]).toEqual([1, 1, 1, 1])
    return {
      isFirst: ids.has('first'),
      texts: text === '' ? [] : [text],
      calls: calls.map((call) => [call.name, JSON.parse(call.arguments)]),
      end: { stop: 'end', tool_calls: 'calls', length: 'length' }[reasons[0] ?? ''],
      tokens: isJsonObject(usage) ? usage['prompt_tokens'] : null,
    }
  },
  failed: { choices: [1, 2] },
  lastWords: [],
}

const messages: Words = {
  name: 'messages',
  replies: messagesDialect.replies,
  text: (words) => blocks.text(words),
  call: (name, input) => blocks.callOf(name, { ...input }),
  cutCall: (name) => blocks.callOf(name, { text: 'ab' }),
  stream: (parts, { isCut = false, isSecond = false, tokens = 1 } = {}) =>
    blocks.streamOf(
      [blocks.thought(), ...parts],
      {
        id: isSecond ? 'second' : 'first',
        ...(isCut && { reason: 'max_tokens' }),
        usage: { input_tokens: tokens, output_tokens: 1 },
      },
      100,
    ),
  seen: (out) => {
    const { id, content, stop_reason: reason, usage } = blocks.readStrictly(out)
    const parts = objectsIn(content)
    return {
      isFirst: id === 'first',
      texts: parts.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : [])),
      calls: parts.flatMap(({ type, name, input }) => (type === 'tool_use' ? [[name, input]] : [])),
      end: { end_turn: 'end', tool_use: 'calls', max_tokens: 'length' }[String(reason)],
      tokens: objectOr(usage)['input_tokens'],
    }
  },
  failed: { ...blocks.messageOf([blocks.text('x')]), error: { type: 'api_error', message: 'x' } },
  lastWords: ['event: error\ndata: {"type":"error","error":{"type":"api_error"}}\n\n'],
}

let made = 0

const failedResponse = items.responseOf([], {
  status: 'failed',
  more: { error: { code: 'server_error', message: 'x' } },
})

const responses: Words = {
  name: 'responses',
  replies: responsesDialect.replies,
  text: (words) => items.message(words, `msg_${(made += 1)}`),
  call: (name, input = {}) => items.callOf(name, JSON.stringify(input), `fc_${(made += 1)}`),
  cutCall: (name) => items.callOf(name, '{"text":"ab', `fc_${(made += 1)}`),
  stream: (parts, { isCut = false, isSecond = false, tokens = 1 } = {}) =>
    items.streamOf(
      [items.thought(`rs_${(made += 1)}`), ...parts],
      {
        id: isSecond ? 'second' : 'first',
        ...(isCut && { reason: 'max_output_tokens' }),
        usage: { input_tokens: tokens, output_tokens: 1 },
      },
      100,
    ),
  seen: (out) => {
    const { id, output, status, usage } = items.endOf(out)
    expect(eventsIn(out).at(-1)?.['type']).toBe(`response.${String(status)}`)
    const parts = objectsIn(output)
    const calls = parts.filter(({ type }) => type === 'function_call')
    return {
      isFirst: id === 'first',
      texts: parts.flatMap(({ content }) =>
        Array.isArray(content)
          ? [
              objectsIn(content)
                .map(({ text }) => text)
                .join(''),
            ]
          : [],
      ),
      calls: calls.map(({ name, arguments: given }) => [name, JSON.parse(String(given))]),
      end: status === 'incomplete' ? 'length' : calls.length > 0 ? 'calls' : 'end',
      tokens: objectOr(usage)['input_tokens'],
    }
  },
  failed: failedResponse,
  lastWords: [`data: ${JSON.stringify({ type: 'response.failed', response: failedResponse })}\n\n`],
}

describe.each([chats, messages, responses])('in $name', (words) => {
  const { text, call, cutCall, stream, seen, replies } = words
  const { joinedStreams } = joiningOf(replies)
  const told = 'It was a dark and stormy night, and the rain fell in torrents, except at'
  const asking = stream([text('Let me look.'), call('recall', { search: 'x' })], { tokens: 10 })
  const cut = stream([text(told)], { isCut: true })

  test('a call of ours leaves no sign: one answer, with the usage of both; it is read whole', () => {
    const answering = stream([text('It is 42.'), call('bash', { a: 1 })], { isSecond: true, tokens: 20 })
    const { out, usage, replies: read } = joinedStreams([asking, answering], recalling)
    const { texts, ...others } = seen(out)
    expect(texts.join('')).toBe('Let me look.\n\nIt is 42.')
    expect(others).toEqual({ isFirst: true, calls: [['bash', { a: 1 }]], end: 'calls', tokens: 30 })
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
    const mixed = stream([call('bash', { a: 1 }), call('recall'), call('read', { b: 2 })])
    const calls = [
      ['bash', { a: 1 }],
      ['read', { b: 2 }],
    ]
    expect(seen(joinedStreams([mixed], recalling).out)).toMatchObject({ calls, end: 'calls' })
  })

  test('a text that was cut goes on where it was cut', () => {
    const rest = stream([text(`${told} intervals.`), call('bash')], { isSecond: true })
    const { out, replies: read } = joinedStreams([cut, rest], continuing)
    const whole = { texts: [`${told} intervals.`], calls: [['bash', {}]], end: 'calls' }
    expect(seen(out)).toEqual({ isFirst: true, tokens: 2, ...whole })
    expect(read.map((reply) => reply?.text)).toEqual([told, ' intervals.'])
  })

  test('one that is not gone on with ends before what follows it', () => {
    const { out } = joinedStreams([cut, stream([call('bash')], { isSecond: true })], continuing)
    expect(seen(out)).toMatchObject({ texts: [told], calls: [['bash', {}]], end: 'calls' })
  })

  test('a call that was cut is asked for again, and made once', () => {
    const begun = stream([text('I write.'), cutCall('write')], { isCut: true })
    const again = stream([call('write', { text: 'a' })], { isSecond: true })
    const { out, replies: read } = joinedStreams([begun, again], continuing)
    expect(read[0]?.calls).toMatchObject([{ name: 'write', isIncomplete: true }])
    expect(seen(out)).toMatchObject({ texts: ['I write.'], calls: [['write', { text: 'a' }]] })
  })

  test('a call that was cut is left out if another is complete, which is complete then', () => {
    const mixed = stream([call('read', { a: 1 }), cutCall('write')], { isCut: true })
    const { out } = joinedStreams([mixed], continuing)
    expect(seen(out)).toMatchObject({ calls: [['read', { a: 1 }]], end: 'calls' })
  })

  test('of an answer that did not begin nothing can be said', () => {
    const silent = replies.join<StreamEvent>(continuing)
    silent.goOn(paragraphSeam(''))
    expect(silent.cut()).toBeNull()
  })

  test('what is no plain answer, or a failed one, is not gone on from', () => {
    const plain = replies.join(continuing)
    for (const none of [undefined, null, 'x', [], {}, { choices: [] }, { error: {} }, words.failed]) {
      expect(plain.takePlain(none)).toBeNull()
      expect(plain.finishPlain()).toBeNull()
    }
  })

  test('the last word of a stream is its end, whatever a text in it says', () => {
    const ends = ['message_stop', 'response.completed'].map((type) => `event: ${type} {"type":"${type}"}`)
    const said = text(`${ends.join(' ')} [DONE] event: error`)
    for (const isCut of [false, true]) {
      const events = stream([said, call('bash', { type: 'error' })], { isCut }).map((event) => event.text)
      for (const spelt of [events, events.map((event) => event.replace(/^event: .*\n/, ''))])
        expect(spelt.filter(replies.isDone)).toEqual(spelt.slice(-1))
    }
    for (const last of ['data: [DONE]\n\n', ...words.lastWords]) expect(replies.isDone(last)).toBe(true)
  })
})

const callDelta = (name: string, given: string): JsonObject => ({
  tool_calls: { id: `call_${name}`, type: 'function', function: { name, arguments: given } },
})

const objectOr = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

const objectsIn = (list: unknown): readonly JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : []
