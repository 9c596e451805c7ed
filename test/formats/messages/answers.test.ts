import { describe, expect, test } from 'vitest'
import type { AnswerFacts } from '../../../src/formats/answer-contract.ts'
import { createEventReader } from '../../../src/formats/event-reader.ts'
import { messagesAnswers } from '../../../src/formats/messages/messages.ts'
import { classifyAnswer } from '../../../src/overflow/classify.ts'
import { watchStream } from '../../../src/overflow/answer-watch.ts'
import { createTailObserver } from '../../../src/overflow/tail-observer.ts'
import { eventOf } from '../joined.ts'
import { callOf, messageOf, ping, search, streamOf, text, thought } from './reply/streamed.ts'

const { read } = messagesAnswers
const nothingKnown = { knownWindowTokens: null }
const tooLong = {
  type: 'error',
  error: { type: 'invalid_request_error', message: 'prompt is too long: 219898 tokens > 200000 maximum' },
  request_id: 'req_1',
}

function eventsOf(events: readonly { readonly text: string }[]) {
  const reader = createEventReader({ eventCharactersMax: 1 << 20 })
  return [...reader.feed(events.map((event) => event.text).join('')), ...reader.end()]
}

/** What the events of one stream say, each. */
const factsOf = (events: readonly { readonly text: string }[]): (AnswerFacts | string)[] =>
  eventsOf(events)
    .map(messagesAnswers.openStream())
    .map((said) => (said.kind === 'facts' ? said.facts : said.kind))

const silentEvents = (events: readonly { readonly text: string }[]): number =>
  factsOf(events).findIndex((facts) => typeof facts === 'object' && facts.hasOutput)

function removedIn(events: readonly { readonly text: string }[]) {
  const observer = createTailObserver('stream', messagesAnswers)
  for (const event of events) observer.feed(event.text)
  return observer.end().removedThoughts
}

const usageOf = (usage: object) => read(messageOf([text('x')], { usage }))?.usage
const missOf = (reason: unknown) =>
  read(messageOf([], { more: { diagnostics: { cache_miss_reason: reason } } }))?.cacheMiss
const begun = (block: object) => ({ type: 'content_block_start', index: 0, content_block: block })
const piece = (delta: object) => ({ type: 'content_block_delta', index: 0, delta })
const end = (reason: string, usage: object) => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  usage,
})

describe('thoughts that were left out of the prompt', () => {
  const dropped = { type: 'thinking_dropped', path: 'messages.3.content.0' }
  const stated = {
    input_transformations: [
      { ...dropped, reason: 'prefix_binding_mismatch' },
      { ...dropped, path: { not: 'a path' }, reason: 'prefix_binding_mismatch' },
      { ...dropped, reason: 'model_binding_mismatch' },
      { ...dropped, reason: 'organization_binding_mismatch' },
      { ...dropped, reason: 'end_user_binding_mismatch' },
      { ...dropped, reason: 'constructor' },
      { ...dropped, type: 'thinking_mismatch_allowed', reason: 'prefix_binding_mismatch' },
      null,
      [dropped],
    ],
  }
  const counts = { prefix: 2, model: 1, organization: 1, 'end-user': 1, other: 1 }

  test('are counted by their reason; those that were shown all the same are not', () => {
    expect(read(messageOf([text('x')], { more: stated }))?.removedThoughts).toEqual(counts)
    for (const none of [undefined, null, 'none', { length: 2 }])
      expect(read(messageOf([], { more: { input_transformations: none } }))?.removedThoughts).toBe(null)
  })

  test('of a stream its first event tells, or the last one where another model took over', () => {
    const events = streamOf([text('x')], { more: stated })
    expect(removedIn(events)).toEqual(counts)
    const late = eventOf({ type: 'message_delta', delta: {}, usage: {}, input_transformations: [] })
    expect(removedIn([...events, late])).toEqual({})
  })
})

describe('a plain message', () => {
  test.each([
    ['a text', messageOf([thought(), text('x')]), true, 'end'],
    ['a call', messageOf([callOf('bash')]), true, 'calls'],
    ['what the server did itself', messageOf(search()), true, 'end'],
    ['a stop sequence', messageOf([text('x')], { reason: 'stop_sequence' }), true, 'end'],
    ['a text that was cut', messageOf([text('x')], { reason: 'max_tokens' }), true, 'length'],
    ['a refusal', messageOf([], { reason: 'refusal' }), false, 'filtered'],
    ['a full window', messageOf([text('x')], { reason: 'model_context_window_exceeded' }), true, 'window'],
    ['a pause', messageOf(search(), { reason: 'pause_turn' }), true, 'other'],
    ['secret thoughts', messageOf([thought(''), { type: 'redacted_thinking', data: 'x' }]), false, 'end'],
    ['thoughts to read', messageOf([thought()]), true, 'end'],
    ['an empty text', messageOf([text('')]), false, 'end'],
    ['no reason', { type: 'message', content: [text('x')], stop_reason: null }, true, null],
  ])('%s', (_, body, hasOutput, finish) => {
    expect(read(body)).toMatchObject({ hasOutput, finish, isError: false, said: null })
  })

  test('states its usage, beside which what was cached stands, if the server has a cache', () => {
    const cached = { cache_read_input_tokens: 4000, cache_creation_input_tokens: 900 }
    expect(usageOf({ input_tokens: 100, ...cached, output_tokens: 30 })).toMatchObject({
      promptTokens: 5000,
      completionTokens: 30,
      cachedTokens: 4000,
      cacheWrittenTokens: 900,
    })
    expect(usageOf({ input_tokens: 7, cache_read_input_tokens: null })).toMatchObject({
      promptTokens: 7,
      completionTokens: null,
      cachedTokens: null,
    })
    expect(usageOf({ output_tokens: 7 })).toBeNull()
    expect(read(messageOf([]))?.model).toBe('m')
  })

  test('says what kept its prompt from being in the cache, if the client asks', () => {
    expect(missOf({ type: 'messages_changed', cache_missed_input_tokens: 9 })).toBe('messages')
    expect(missOf({ type: 'previous_message_not_found' })).toBe('unknown')
    expect(missOf({ type: 'constructor' })).toBe('other')
    expect(missOf(null)).toBeNull()
    const message = messageOf([], { more: { diagnostics: { cache_miss_reason: {} } } })
    expect(factsOf([eventOf({ type: 'message_start', message })])).toMatchObject([{ cacheMiss: 'other' }])
  })

  // With web searches the counts add up several prompts, each of which holds the one before: more than any window.
  test('counts the prompt that was sent, and not those of the server’s own rounds', () => {
    const rounds = [1000, 1500].map((tokens) => ({
      type: 'message',
      input_tokens: 10,
      cache_read_input_tokens: tokens,
      output_tokens: 20,
    }))
    const compaction = { type: 'compaction', input_tokens: 9000, output_tokens: 500 }
    const total = { input_tokens: 20, cache_read_input_tokens: 2500, output_tokens: 40 }
    expect(usageOf({ ...total, iterations: [compaction, ...rounds] })).toMatchObject({
      promptTokens: 1010,
      completionTokens: 40,
      cachedTokens: 1000,
    })
    expect(usageOf({ ...total, iterations: null })).toMatchObject({ promptTokens: 2520 })
  })
})

describe('an error', () => {
  const wording = 'request (12030 tokens) exceeds the available context size (8192 tokens), try increasing it'
  test.each([
    ['Anthropic’s', tooLong],
    [
      'llama.cpp’s in Anthropic’s envelope',
      { type: 'error', error: { type: 'api_error', message: wording } },
    ],
    ['llama.cpp’s own', { error: { code: 400, message: wording, type: 'exceed_context_size_error' } }],
    ['a detail', { detail: wording }],
    ['a list', [{ error: { message: wording } }]],
  ])('is one, and an overflow: %s', (_, body) => {
    expect(read(body)).toMatchObject({ hasOutput: false, isError: true })
    const answer = { status: 200, contentType: 'application/json', body: JSON.stringify(body) }
    expect(classifyAnswer(answer, messagesAnswers).class).toBe('overflow')
    expect(classifyAnswer({ ...answer, status: 400 }, messagesAnswers).class).toBe('overflow')
  })

  test('says nothing of the reply', () => {
    const error = { type: 'api_error', message: 'Sorry.' }
    const body = { ...messageOf([text(tooLong.error.message)]), error }
    expect(read(body)?.said).toEqual({ error })
  })
})

describe('a stream', () => {
  const started = { type: 'message_start', message: { ...messageOf([]), stop_reason: null } }
  const stop = { type: 'content_block_stop', index: 0 }
  const secret = begun(thought('', ''))
  const signed = piece({ type: 'signature_delta', signature: 'x' })
  test.each([
    ['a text', [started, begun(text('')), piece({ type: 'text_delta', text: 'x' })], 2],
    ['a text in its beginning', [started, begun(text('x'))], 1],
    ['a call', [started, begun(callOf('bash'))], 1],
    ['secret thoughts before it', [started, secret, signed, stop, begun(callOf('a'))], 4],
    ['thoughts to read', [started, begun(thought('', '')), piece({ thinking: 'Hm' })], 2],
  ])('has its first output with %s', (_, events, silent) => {
    const all = [ping, ...events.map(eventOf)]
    const without = (part: RegExp) => all.map((event) => ({ text: event.text.replace(part, '') }))
    for (const spelt of [all, without(/^event: .*\n/), without(/"type":"[a-z]+_[^"]*",/)])
      expect(silentEvents(spelt)).toBe(silent + 1)
  })

  test.each([
    ['at the end alone', { input_tokens: 0, output_tokens: 0 }, { input_tokens: 9, output_tokens: 2 }],
    [
      'at the beginning, and says zero at the end',
      { input_tokens: 9 },
      { input_tokens: 0, output_tokens: 2 },
    ],
    ['again at the end, corrected', { input_tokens: 5 }, { input_tokens: 9, output_tokens: 2 }],
  ])('of a server that counts it %s', (_, first, last) => {
    const start = { ...started, message: { ...messageOf([]), usage: first } }
    expect(factsOf([start, end('end_turn', last)].map(eventOf)).at(-1)).toMatchObject({
      usage: { promptTokens: 9, completionTokens: 2 },
    })
  })

  // vLLM's, with a prompt that was in its cache to the last token: it was counted twice.
  test('of a server that tells in the end that all of it was cached', () => {
    const start = { ...started, message: { ...messageOf([]), usage: { input_tokens: 64 } } }
    const last = { input_tokens: 0, cache_read_input_tokens: 64, output_tokens: 2 }
    expect(factsOf([start, end('end_turn', last)].map(eventOf)).at(-1)).toMatchObject({
      usage: { promptTokens: 64, cachedTokens: 64 },
    })
  })

  test.each([
    ['an error', [eventOf({ ...tooLong })]],
    ['an error behind a beginning', [eventOf(started), ping, eventOf({ ...tooLong })]],
    ['a window that was full', [eventOf(started), eventOf(end('model_context_window_exceeded', {}))]],
    ['a bare error', [{ text: `data: ${JSON.stringify({ error: tooLong.error })}\n\n` }]],
  ])('an overflow is seen before anything of it goes on: %s', (_, events) => {
    const whole = events.map((event) => event.text).join('')
    for (const stream of [whole, whole.replaceAll(/^event: .*\n/gm, '')]) {
      expect(watchStream(messagesAnswers, nothingKnown).feed(stream)).toMatchObject({ state: 'overflow' })
    }
  })

  test('pieces of the output are not looked into, whatever they say', () => {
    const events = streamOf([thought(), text('{"type":"message_delta"}'), callOf('bash')])
    expect(eventsOf(events).filter(messagesAnswers.isTelling).length).toBe(3)
  })

  test('one that ends with nothing, and counts nothing, is empty', () => {
    const silent = { ...started, message: { ...messageOf([]), usage: { input_tokens: 0, output_tokens: 0 } } }
    const watch = watchStream(messagesAnswers, nothingKnown)
    for (const event of [silent, end('end_turn', { output_tokens: 0 }), { type: 'message_stop' }])
      watch.feed(eventOf(event).text)
    expect(watch.end()).toEqual({ state: 'empty' })
  })
})
